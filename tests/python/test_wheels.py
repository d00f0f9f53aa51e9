"""The wheels, in an empty environment: wheels.sh.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import subprocess
import unittest


class Wheels(unittest.TestCase):
    def test_they_work_in_an_empty_environment(self):
        done = subprocess.run([pathlib.Path(__file__).resolve().with_name("wheels.sh")],
                              text=True, capture_output=True)
        if done.stdout.startswith("skip: "):
            self.skipTest(done.stdout.splitlines()[0].removeprefix("skip: "))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
