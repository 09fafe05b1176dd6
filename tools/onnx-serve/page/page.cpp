#include "tools/onnx-serve/page/page.h"

namespace sardonyx::serve {
namespace {

constexpr std::string_view kHead = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Models</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .25rem .5rem; border-bottom: 1px solid #8884; }
th:first-child, td:first-child, td.text, th.text { text-align: left; overflow-wrap: anywhere; }
label { display: block; margin: .6rem 0 .2rem; }
input, select, textarea { font: inherit; }
textarea, pre { box-sizing: border-box; width: 100%; font: 13px/1.4 ui-monospace, monospace; }
pre { overflow: auto; max-height: 24rem; padding: .6rem; border: 1px solid #8884; white-space: pre-wrap; }
.error { color: #c22; } .small { font-size: .85rem; opacity: .8; }
</style>
</head>
<body>
<h1 id="server">Models</h1>
<p class="small">Token, where the server asks for one:
<input id="token" type="password" autocomplete="off" size="24"> <span id="problem" class="error"></span></p>
<table>
<thead><tr><th>model</th><th>state</th><th title="waiting or running">pending</th><th>answers/s</th><th>answers</th>
<th>failed</th><th title="of the last seconds, as far as the buckets tell">p50</th><th>p99</th><th>queue</th><th>run</th>
<th title="items of a run">batch</th><th></th></tr></thead>
<tbody id="models"></tbody>
</table>
<p class="small">Times are of the last few seconds: p50 and p99 from arrival to answer, means of queue and run.</p>
<h2>Try a model</h2>
<form id="try">
<label for="model">Model</label> <select id="model"></select>
<div id="inputs"></div>
<p><button id="run">Run</button> <span id="took" class="small"></span></p>
<pre id="answer" hidden></pre>
</form>
<section id="profile" hidden>
<h2>Profile of <span id="profiled"></span></h2>
<p id="summary" class="small"></p>
<table><thead><tr><th>node</th><th class="text">op</th><th class="text">kernel</th><th>count</th><th>mean</th><th>share</th></tr>
</thead><tbody id="steps"></tbody></table>
</section>
<script>
)html";

constexpr std::string_view kScript = R"html("use strict";
const at = id => document.getElementById(id);
const make = (tag, text) => { const e = document.createElement(tag); e.textContent = text ?? ""; return e; };
const row = (cells, textual = []) => {
  const tr = document.createElement("tr");
  cells.forEach((cell, i) => {
    const td = cell instanceof Node ? document.createElement("td") : make("td", cell);
    if (cell instanceof Node) td.append(cell);
    if (textual.includes(i)) td.className = "text";
    tr.append(td);
  });
  return tr;
};
const time = s => s === undefined || !isFinite(s) ? "–" : s < 1e-3 ? (s * 1e6).toFixed(0) + " µs" :
  s < 1 ? (s * 1e3).toFixed(2) + " ms" : s.toFixed(2) + " s";

async function call(path, body) {
  const headers = at("token").value ? { Authorization: "Bearer " + at("token").value } : {};
  const answer = await fetch(path, body === undefined ? { headers } : { method: "POST", headers, body });
  const text = await answer.text();
  if (answer.ok) return text;
  let why = answer.status + " " + answer.statusText;
  try { why = JSON.parse(text).error || why; } catch (e) { /* no JSON: the status has to do */ }
  throw new Error(why);
}
const ask = async (path, body) => JSON.parse(await call(path, body));
const url = (name, version) => "/v2/models/" + encodeURIComponent(name) + (version ? "/versions/" + version : "");

// Histograms of Prometheus's text: {"name/version": [[bound, count so far]...]}.
function histograms(text, metric) {
  const all = {};
  for (const line of text.split("\n")) {
    if (!line.startsWith(metric + "_bucket{")) continue;
    const label = name => {
      const found = line.match(new RegExp("[{,]" + name + '="((?:[^"\\\\]|\\\\.)*)"'));
      return found ? found[1].replace(/\\(.)/g, (m, c) => c === "n" ? "\n" : c) : "";
    };
    const bound = label("le");
    (all[label("model") + "/" + label("version")] ??= []).push(
      [bound === "+Inf" ? Infinity : Number(bound), Number(line.slice(line.lastIndexOf(" ") + 1))]);
  }
  return all;
}
function quantile(now, before, q) {
  if (!now) return undefined;
  const counts = now.map(([bound, count], i) => [bound, count - (before?.[i]?.[1] ?? 0)]);
  const total = counts.length ? counts[counts.length - 1][1] : 0;
  if (total <= 0) return undefined;
  let low = 0, passed = 0;
  for (const [bound, count] of counts) {
    if (count >= q * total) {
      return isFinite(bound) ? low + (bound - low) * (q * total - passed) / Math.max(count - passed, 1) : low;
    }
    low = bound; passed = count;
  }
  return low;
}
function pendingOf(text) {
  const all = {};
  for (const found of text.matchAll(/^sardonyx_requests_pending\{model="((?:[^"\\]|\\.)*)",version="(\d+)"\} (\S+)$/gm))
    all[found[1] + "/" + found[2]] = Number(found[3]);
  return all;
}

const kept = [];  // what was seen in the last seconds, the oldest first
function modelRow(model, metrics, old) {
  const key = model.name + "/" + model.version, s = model.inference_stats;
  const before = old?.models[key], b = before?.inference_stats;
  const since = (name, what) => s[name][what] - (b ? b[name][what] : 0);
  const mean = name => since(name, "count") > 0 ? since(name, "ns") / since(name, "count") / 1e9 : undefined;
  const runs = model.execution_count - (before?.execution_count ?? 0);
  const items = model.inference_count - (before?.inference_count ?? 0);
  const button = make("button", "profile 2 s");
  button.type = "button";
  button.onclick = () => showProfile(model.name, model.version, button);
  const histogram = metrics?.request[key], past = old?.metrics?.request[key];
  return row([model.name + " " + model.version, "READY", metrics?.pending[key] ?? "–",
    old ? (since("success", "count") / ((Date.now() - old.when) / 1e3)).toFixed(1) : "–", s.success.count, s.fail.count,
    time(quantile(histogram, past, 0.5)), time(quantile(histogram, past, 0.99)), time(mean("queue")),
    time(mean("compute_infer")), runs > 0 ? (items / runs).toFixed(1) : "–", button], [0, 1]);
}

async function refresh() {
  try {
    const stats = (await ask("/v2/models/stats")).model_stats;
    let metrics = null, index = [];
    try {
      const text = await call("/metrics");
      metrics = { request: histograms(text, "sardonyx_request_duration_seconds"), pending: pendingOf(text) };
    } catch (e) { /* off, or for others */ }
    try { index = await ask("/v2/repository/index", "{}"); } catch (e) { /* for others */ }
    const now = { when: Date.now(), metrics, models: {} };
    for (const one of stats) now.models[one.name + "/" + one.version] = one;
    const rows = stats.map(one => modelRow(one, metrics, kept[0]));
    for (const one of index.filter(one => one.state !== "READY"))
      rows.push(row([one.name + " " + (one.version ?? ""), one.state + (one.reason ? ": " + one.reason : "")], [0, 1]));
    if (!at("models").contains(document.activeElement)) at("models").replaceChildren(...rows);
    kept.push(now);
    while (kept.length > 5) kept.shift();
    const names = [...new Set(stats.map(one => one.name))];
    if (names.join("\n") !== [...at("model").options].map(one => one.value).join("\n")) {
      const chosen = at("model").value;
      at("model").replaceChildren(...names.map(name => { const o = make("option", name); o.value = name; return o; }));
      if (names.includes(chosen)) at("model").value = chosen; else await showInputs();
    }
    at("problem").textContent = "";
  } catch (error) {
    at("problem").textContent = error.message;
  }
}

const sampleOf = type => type === "BYTES" ? "" : type === "BOOL" ? false : 0;
function nested(shape, value) {
  return shape.length === 0 ? [value] : shape.length === 1 ? Array(shape[0]).fill(value)
    : Array.from({ length: shape[0] }, () => nested(shape.slice(1), value));
}
async function showInputs() {
  at("inputs").replaceChildren();
  at("answer").hidden = true;
  if (!at("model").value) return;
  const model = await ask(url(at("model").value));
  const parts = model.inputs.map((input, i) => {
    const part = document.createElement("div");
    part.dataset.name = input.name;
    part.dataset.type = input.datatype;
    const shape = input.shape.map(dim => dim < 0 ? 1 : dim);
    const label = make("label", `${input.name}: ${input.datatype} [${input.shape.map(d => d < 0 ? "any" : d).join(", ")}], shape `);
    const size = document.createElement("input");
    size.className = "shape";
    size.value = shape.join(", ");
    label.append(size);
    const data = document.createElement("textarea");
    data.className = "data";
    data.rows = 4;
    const fill = () => {
      const dims = size.value.trim() === "" ? [] : size.value.split(",").map(Number);
      const count = dims.reduce((a, b) => a * b, 1);
      data.placeholder = count > 4096 ? `${count} elements: empty for zeros` : "JSON, nested or flat; empty for zeros";
      if (count <= 4096 && !data.dataset.edited) data.value = JSON.stringify(nested(dims, sampleOf(input.datatype)));
    };
    size.oninput = fill;
    data.oninput = () => { data.dataset.edited = data.value; };
    fill();
    part.append(label, data);
    return part;
  });
  at("inputs").replaceChildren(...parts);
}
function requestOf() {
  const inputs = [...at("inputs").children].map(part => {
    const text = part.querySelector(".shape").value.trim();
    const shape = text === "" ? [] : text.split(",").map(Number);
    const given = part.querySelector(".data").value.trim();
    const count = shape.reduce((a, b) => a * b, 1);
    // Numbers stay as they were written: those of 64 bits are more than JavaScript's.
    const data = given || JSON.stringify(Array(count).fill(sampleOf(part.dataset.type)));
    return `{"name":${JSON.stringify(part.dataset.name)},"datatype":${JSON.stringify(part.dataset.type)},` +
      `"shape":${JSON.stringify(shape)},"data":${data}}`;
  });
  return `{"parameters":{"allow_nan":true},"inputs":[${inputs.join(",")}]}`;
}
async function tryModel(event) {
  event.preventDefault();
  at("run").disabled = true;
  const begin = performance.now();
  try {
    const text = await call(url(at("model").value) + "/infer", requestOf());
    at("answer").className = "";
    at("answer").textContent = text.length > 100000 ? text.slice(0, 100000) + " …" : text;
  } catch (error) {
    at("answer").className = "error";
    at("answer").textContent = error.message;
  }
  at("took").textContent = time((performance.now() - begin) / 1e3);
  at("answer").hidden = false;
  at("run").disabled = false;
}

async function showProfile(name, version, button) {
  button.disabled = true;
  try {
    const got = await ask(url(name, version) + "/profile?seconds=2");
    const all = got.steps.reduce((sum, step) => sum + step.seconds, 0);
    at("profiled").textContent = name + " " + version;
    at("summary").textContent = got.runs === 0 ? "Nothing was run in that time."
      : `${got.runs} runs, ${time(got.run_seconds / got.runs)} each`;
    at("steps").replaceChildren(...got.steps.slice(0, 50).map(step => row([step.node, step.op, step.implementation,
      step.count, time(step.seconds / step.count), (100 * step.seconds / all).toFixed(1) + " %"], [0, 1, 2])));
    at("profile").hidden = false;
  } catch (error) {
    at("problem").textContent = error.message;
  }
  button.disabled = false;
}

at("model").onchange = () => showInputs().catch(error => { at("problem").textContent = error.message; });
at("try").onsubmit = tryModel;
at("token").onchange = refresh;
ask("/v2").then(server => { at("server").textContent = server.name + " " + server.version; }, () => {});
refresh();
setInterval(() => { if (!document.hidden) refresh(); }, 2000);
</script>
</body>
</html>
)html";

}  // namespace

HttpAnswer page() {
  HttpAnswer answer;
  answer.content_type = "text/html; charset=utf-8";
  answer.text.reserve(kHead.size() + kScript.size());
  answer.text.append(kHead).append(kScript);
  // Names of models and what they answer are text: nothing from elsewhere is loaded or run.
  answer.fields = {{"Content-Security-Policy",
                    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
                    "frame-ancestors 'none'"},
                   {"X-Content-Type-Options", "nosniff"},
                   {"Cache-Control", "no-cache"}};
  return answer;
}

}  // namespace sardonyx::serve
