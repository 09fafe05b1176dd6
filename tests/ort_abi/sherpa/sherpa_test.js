// sherpa_test.js run MODELS RESULT: what sherpa-onnx hears in a drawn signal, as JSON.
// sherpa_test.js compare RESULT RESULT: fails where two such files differ by more than rounding.
'use strict';
const assert = require('assert');
const fs = require('fs');
const os = require('os');
const path = require('path');

const RATE = 16000;

// The same numbers in each run.
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

// Noise, with vowels in it: a pulse train of a voice's pitch through three resonances, louder and softer as syllables
// are.
function signal(seconds) {
  const next = randomNumbers(7);
  const samples = new Float32Array(seconds * RATE);
  const vowels = [[700, 1220, 2600], [300, 870, 2240], [530, 1840, 2480], [270, 2290, 3010]];
  const filters = [0, 1, 2].map(() => ({a: 0, b: 0}));
  let phase = 0;
  for (let i = 0; i < samples.length; ++i) {
    const time = i / RATE;
    const isVoiced = Math.floor(time) % 2 === 1;
    const pitch = 120 + 25 * Math.sin(2 * Math.PI * 0.7 * time);
    phase += pitch / RATE;
    let source = 0.02 * next();
    if (phase >= 1) {
      phase -= 1;
      source += 1;
    }
    const formants = vowels[Math.floor(time * 5) % vowels.length];
    let voice = 0;
    filters.forEach((filter, k) => {
      const radius = Math.exp(-Math.PI * (60 + 40 * k) / RATE);
      const slope = 2 * radius * Math.cos(2 * Math.PI * formants[k] / RATE);
      const value = source + slope * filter.a - radius * radius * filter.b;
      filter.b = filter.a;
      filter.a = value;
      voice += value / (k + 1);
    });
    const syllable = Math.max(0, Math.sin(2 * Math.PI * 4 * time));
    samples[i] = (isVoiced ? 0.05 * syllable * voice : 0) + 0.002 * next();
  }
  return samples;
}

// Metadata that sherpa-onnx asks for, behind the model's other fields.
function withMetadata(model, entries) {
  const field = (number, bytes) => {
    const head = [number << 3 | 2];
    let size = bytes.length;
    for (; size >= 128; size >>= 7) head.push(size & 127 | 128);
    return Buffer.concat([Buffer.from([...head, size]), bytes]);
  };
  const parts = Object.entries(entries).map(
    ([key, value]) => field(14, Buffer.concat([field(1, Buffer.from(key)), field(2, Buffer.from(String(value)))])));
  return Buffer.concat([model, ...parts]);
}

function voiceActivity(sherpa, models, samples) {
  const model = path.join(models, 'silero_vad_v5', 'model.onnx');
  const vad = new sherpa.Vad({
    sileroVad: {model, threshold: 0.3, minSpeechDuration: 0.05, minSilenceDuration: 0.2, windowSize: 512},
    sampleRate: RATE, numThreads: 1, debug: 0}, 30);
  const detected = [], segments = [];
  for (let i = 0; i + 512 <= samples.length; i += 512) {
    vad.acceptWaveform(samples.subarray(i, i + 512));
    detected.push(vad.isDetected() ? 1 : 0);
  }
  vad.flush();
  for (; !vad.isEmpty(); vad.pop()) {
    const segment = vad.front(false);
    segments.push({start: segment.start, count: segment.samples.length});
  }
  return {detected: detected.join(''), segments};
}

function denoised(sherpa, models, name, samples) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sherpa-'));
  const model = path.join(folder, 'model.onnx');
  fs.writeFileSync(model, withMetadata(fs.readFileSync(path.join(models, name, 'model.onnx')), {
    model_type: 'gtcrn', sample_rate: RATE, n_fft: 512, hop_length: 256, window_length: 512, window_type: 'hann_sqrt',
    version: 1, conv_cache_shape: '2,1,16,16,33', tra_cache_shape: '2,3,1,1,16', inter_cache_shape: '2,1,33,16'}));
  try {
    const denoiser = new sherpa.OfflineSpeechDenoiser({model: {gtcrn: {model}, debug: 0, numThreads: 1}});
    return Array.from(denoiser.run({samples, sampleRate: RATE, enableExternalBuffer: false}).samples);
  } finally {
    fs.rmSync(folder, {recursive: true});
  }
}

function run(models, result) {
  const sherpa = require('sherpa-onnx-node');
  const samples = signal(8);
  const heard = {vad: voiceActivity(sherpa, models, samples), denoised: {}};
  for (const name of ['gtcrn_stream', 'gtcrn_stream_simple'])
    heard.denoised[name] = denoised(sherpa, models, name, samples.subarray(0, 3 * RATE));
  const libraries = fs.readFileSync('/proc/self/maps', 'utf8').match(/\S*libonnxruntime\S*/g) || [];
  heard.library = [...new Set(libraries)];
  fs.writeFileSync(result, JSON.stringify(heard));
}

function compare(first, second) {
  const [theirs, ours] = [first, second].map((file) => JSON.parse(fs.readFileSync(file, 'utf8')));
  assert.strictEqual(theirs.library.length, 1);
  assert.strictEqual(ours.library.length, 1);
  assert.notStrictEqual(theirs.library[0], ours.library[0]);
  assert.ok(theirs.vad.segments.length > 0, 'there is speech in the signal');
  assert.deepStrictEqual(ours.vad, theirs.vad);
  for (const [name, samples] of Object.entries(theirs.denoised)) {
    assert.strictEqual(ours.denoised[name].length, samples.length);
    const peak = Math.max(...samples.map(Math.abs));
    assert.ok(peak > 1e-4, 'something is left of the signal');
    const difference = Math.max(...samples.map((sample, i) => Math.abs(sample - ours.denoised[name][i])));
    assert.ok(difference < 1e-4 * peak, `${name}: differs by ${difference} of ${peak}`);
    const relative = (difference / peak).toExponential(1);
    console.log(`${name}: ${samples.length} samples, largest difference ${relative} of the peak`);
  }
  console.log(`voice activity: ${theirs.vad.segments.length} segments`);
}

if (process.argv[2] === 'run')
  run(process.argv[3], process.argv[4]);
else
  compare(process.argv[3], process.argv[4]);
