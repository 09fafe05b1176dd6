"""torch.autograd.functional's functions against derivatives that are known."""
import unittest

import numpy as np

from sardonyx import eager
from sardonyx.eager.autograd import functional

X = np.float32([1.0, -2.0, 0.5])
Y = np.float32([0.25, 1.5, -1.0])
V = np.float32([2.0, 1.0, -3.0])


def scaled(x):
    return (x * x).sum() * x


def mixed(x, y):
    return (x**3 * y.sin()).sum()


# Of scaled, by x.
JACOBIAN = (X @ X) * np.eye(3, dtype=np.float32) + 2 * np.outer(X, X)
# Of mixed, by x and y.
HESSIAN = (
    (np.diag(6 * X * np.sin(Y)), np.diag(3 * X**2 * np.cos(Y))),
    (np.diag(3 * X**2 * np.cos(Y)), np.diag(-(X**3) * np.sin(Y))),
)


class Derivatives(unittest.TestCase):
    def setUp(self):
        self.x, self.y, self.v = eager.tensor(X), eager.tensor(Y), eager.tensor(V)

    def assert_same(self, found, expected):
        if isinstance(expected, tuple):
            self.assertIsInstance(found, tuple)
            self.assertEqual(len(found), len(expected))
            for one, wanted in zip(found, expected):
                self.assert_same(one, wanted)
            return
        self.assertEqual(tuple(found.shape), np.shape(expected))
        np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-5, atol=1e-5)

    def test_results_are_nested_as_inputs_and_outputs_are(self):
        self.assert_same(functional.jacobian(scaled, self.x), JACOBIAN)
        self.assert_same(functional.jacobian(scaled, (self.x,)), (JACOBIAN,))
        eye = np.eye(3)
        self.assert_same(functional.jacobian(lambda x: (x, x.sum()), self.x), (eye, np.ones(3)))
        both = functional.jacobian(lambda x, y: (x * y, x), (self.x, self.y))
        self.assert_same(both, ((np.diag(Y), np.diag(X)), (eye, np.zeros((3, 3)))))

    def test_matrices_keep_their_axes(self):
        a, b = eager.randn(2, 3), eager.randn(3, 4)
        found = functional.jacobian(lambda x: x @ b, a)
        self.assert_same(found, np.einsum("ik,lj->ijkl", np.eye(2), b.numpy()))

    def test_second_derivatives(self):
        self.assert_same(functional.hessian(mixed, (self.x, self.y)), HESSIAN)
        self.assert_same(functional.hessian(lambda x: (x**4).sum(), self.x), np.diag(12 * X**2))

    def test_products(self):
        self.assert_same(functional.vjp(scaled, self.x, self.v), ((X @ X) * X, V @ JACOBIAN))
        self.assert_same(functional.jvp(scaled, self.x, self.v), ((X @ X) * X, JACOBIAN @ V))
        value = np.sum(X**3 * np.sin(Y))
        expected = tuple(sum(block @ v for block, v in zip(row, (V, X))) for row in HESSIAN)
        for product in (functional.vhp, functional.hvp):
            found = product(mixed, (self.x, self.y), (self.v, self.x))
            self.assert_same(found, (value, expected))

    def test_go_on_to_further_derivatives_where_asked(self):
        # The Jacobian of x**3 / 3 is diagonal, x**2; its products with v have 2 * x * v as derivatives.
        x = eager.tensor(X).requires_grad_()
        self.assertFalse(functional.jacobian(lambda a: a**3 / 3, x).requires_grad)
        functional.jacobian(lambda a: a**3 / 3, x, create_graph=True).sum().backward()
        self.assert_same(x.grad, 2 * X)
        for product, factor in ((functional.jvp, 2 * X * V), (functional.vjp, 2 * X * V)):
            x = eager.tensor(X).requires_grad_()
            product(lambda a: a**3 / 3, x, self.v, create_graph=True)[1].sum().backward()
            self.assert_same(x.grad, factor)

    def test_leave_the_program_s_own_gradients_alone(self):
        x, weight = eager.tensor(X).requires_grad_(), eager.tensor(Y).requires_grad_()
        with eager.no_grad():
            self.assert_same(functional.jacobian(lambda a: a * weight, x), np.diag(Y))
            self.assert_same(functional.jvp(lambda a: a * a, x, self.v)[1], 2 * X * V)
            self.assert_same(functional.hvp(lambda a: (a**3).sum(), x, self.v)[1], 6 * X * V)
            self.assertTrue(functional.jacobian(lambda a: a * a, x, create_graph=True).requires_grad)
        self.assertIsNone(x.grad)
        self.assertIsNone(weight.grad)

    def test_what_they_refuse(self):
        wrong = [
            ("v may be left out", lambda: functional.vjp(scaled, self.x)),
            (r"shapes \[\[3\]\], got \[\[2\]\]", lambda: functional.vjp(scaled, self.x, eager.ones(2))),
            ("one tensor of one element", lambda: functional.hessian(scaled, self.x)),
            ("one tensor of one element", lambda: functional.vhp(scaled, self.x, self.v)),
            ("input 1; strict=False", lambda: functional.jacobian(lambda x, y: x, (self.x, self.y), strict=True)),
        ]
        for message, call in wrong:
            with self.assertRaisesRegex(RuntimeError, message):
                call()
        with self.assertRaisesRegex(TypeError, "outputs of the function: expected a tensor"):
            functional.jacobian(lambda x: 3, self.x)


if __name__ == "__main__":
    unittest.main()
