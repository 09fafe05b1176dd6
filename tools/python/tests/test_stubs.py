"""The stubs of sardonyx.eager say what the package has."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent


class Stubs(unittest.TestCase):
    def test_are_those_of_the_package(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, str(TOOLS / "make_stubs"), folder], check=True)
            made = {path.name: path.read_text() for path in pathlib.Path(folder).glob("*.pyi")}
        kept = {path.name: path.read_text() for path in (TOOLS / "sardonyx/eager").glob("*.pyi")}
        self.assertGreater(len(made), 3)
        for name in made:
            self.assertEqual(made[name], kept.get(name), f"{name}: tools/python/make_stubs writes it anew")


if __name__ == "__main__":
    unittest.main()
