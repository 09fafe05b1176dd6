"""Names of onnxruntime about devices, memory and extensions: what works, and what is refused."""
import unittest

import numpy as np
from onnx import TensorProto

import sardonyx as ort

import models


class Names(unittest.TestCase):
    def test_elements_by_their_bits(self):
        bits = np.uint16([0x3F80, 0x4000, 0xC040])
        value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, TensorProto.BFLOAT16)
        self.assertEqual((value.element_type(), value.shape()), (TensorProto.BFLOAT16, [3]))
        self.assertEqual(value.data_ptr(), bits.ctypes.data)
        session = ort.InferenceSession(
            models.model_of(
                [models.helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)],
                [("x", TensorProto.BFLOAT16, ["n"])],
                [("y", TensorProto.FLOAT, ["n"])],
            )
        )
        (y,) = session.run_with_ort_values(None, {"x": value})
        self.assertEqual(y.numpy().tolist(), [1, 2, -3])
        again = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(np.float32([1]), TensorProto.INT32)
        self.assertEqual(again.numpy().tolist(), [0x3F800000])
        for array, number in ((np.float32([1]), TensorProto.BFLOAT16), (np.uint8([1]), 99), (bits, TensorProto.STRING)):
            with self.assertRaises(ort.InvalidArgument):
                ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array, number)

    def test_runs_by_position(self):
        session = ort.InferenceSession(models.affine())
        one = ort.OrtValue.ortvalue_from_numpy(np.ones((2, 3), np.float32))
        feeds, fetches = ort.OrtValueVector([one]), ort.OrtValueVector()
        feeds.push_back(one)
        session.run_with_ortvaluevector(None, ["a", "b"], feeds, ["product", "sum"], fetches, None)
        self.assertEqual([value.numpy()[0, 0] for value in fetches], [1, 2])
        self.assertEqual((fetches.element_type_at(0), fetches.bool_tensor_indices()), (TensorProto.FLOAT, []))
        place = np.zeros((2, 3), np.float32)
        fetches = [ort.OrtValue.ortvalue_from_numpy(place)]
        session.run_with_ortvaluevector(ort.RunOptions(), ["a", "b"], feeds, ["sum"], fetches)
        np.testing.assert_array_equal(place, np.full((2, 3), 2))
        with self.assertRaisesRegex(ort.InvalidArgument, "1 names for 2 feeds"):
            session.run_with_ortvaluevector(None, ["a"], feeds, ["sum"], [])
        with self.assertRaisesRegex(ort.InvalidArgument, "one for each of 1 names, got 2"):
            session.run_with_ortvaluevector(None, ["a", "b"], feeds, ["sum"], [one, one])

    def test_copies_of_values(self):
        source = ort.OrtValue.ortvalue_from_numpy(np.float32([1, 2]))
        target = ort.OrtValue.ortvalue_from_shape_and_type([2], np.float32)
        ort.copy_tensors([source], [target])
        self.assertEqual(target.numpy().tolist(), [1, 2])
        with self.assertRaisesRegex(ort.InvalidArgument, "copy_tensors: expected float"):
            ort.copy_tensors([source], [ort.OrtValue.ortvalue_from_shape_and_type([3], np.float32)])
        with self.assertRaises(ort.InvalidArgument):
            ort.copy_tensors([source], [])

    def test_seed(self):
        session = ort.InferenceSession(
            models.model_of(
                [models.helper.make_node("RandomNormal", [], ["y"], shape=[4])], [], [("y", TensorProto.FLOAT, [4])]
            )
        )
        drawn = []
        for _ in range(2):
            ort.set_seed(7)
            drawn.append([session.run(None, {})[0].tolist() for _ in range(2)])
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0][0], drawn[0][1])

    def test_memory(self):
        info = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
        self.assertEqual((info.name, info.device_id, info.device_vendor_id), ("Cpu", 0, 0))
        self.assertEqual(info.device_mem_type, ort.OrtDeviceMemoryType.DEFAULT)
        own = ort.OrtMemoryInfo.create_v2(
            "Own", ort.OrtMemoryInfoDeviceType.CPU, 7, 1, ort.OrtDeviceMemoryType.HOST_ACCESSIBLE, 64,
            ort.OrtAllocatorType.ORT_DEVICE_ALLOCATOR,
        )
        self.assertEqual((own.name, own.device_id, own.device_vendor_id, own.mem_type), ("Own", 1, 7, 0))
        with self.assertRaisesRegex(RuntimeError, "device is not supported"):
            ort.OrtMemoryInfo("Tape", ort.OrtAllocatorType.ORT_DEVICE_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)

    def test_arenas(self):
        info = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
        arena = ort.OrtArenaCfg(1 << 20, -1, -1, -1)
        self.assertEqual((arena.max_mem, ort.OrtArenaCfg({"max_mem": 5}).max_mem), (1 << 20, 5))
        self.assertEqual(ort.OrtArenaCfg({"arena_extend_strategy": 11}).arena_extend_strategy, 11)
        with self.assertRaisesRegex(RuntimeError, "Invalid OrtArenaCfg option: max_memory"):
            ort.OrtArenaCfg({"max_memory": 5})
        with self.assertRaisesRegex(ort.InvalidArgument, "arena extend strategy"):
            ort.create_and_register_allocator(info, ort.OrtArenaCfg(0, 7, -1, -1))
        graphics = ort.OrtMemoryInfo("Cuda", ort.OrtAllocatorType.ORT_DEVICE_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
        with self.assertRaisesRegex(ort.InvalidArgument, "no memory of Cuda"):
            ort.create_and_register_allocator(graphics)
        with self.assertRaises(TypeError):
            ort.create_and_register_allocator("Cpu", arena)

    def test_sessions_take_memory_from_the_registered_arena(self):
        info = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
        ort.create_and_register_allocator_v2("CPUExecutionProvider", info, {}, ort.OrtArenaCfg(1 << 22, -1, -1, -1))
        self.addCleanup(ort.create_and_register_allocator, info, None)
        options = ort.SessionOptions()
        options.add_session_config_entry("session.use_env_allocators", "1")
        sharing = ort.InferenceSession(models.unary("Exp"), options)
        apart = ort.InferenceSession(models.unary("Exp"))
        small, large = np.zeros((2, 3), np.float32), np.zeros((1 << 20, 3), np.float32)
        for session in (sharing, apart):
            self.assertEqual(session.run(None, {"x": small})[0].sum(), 6)
        self.assertEqual(apart.run(None, {"x": large})[0].shape, large.shape)
        with self.assertRaises(RuntimeError):
            sharing.run(None, {"x": large})
        self.assertEqual(sharing.run(None, {"x": small})[0].sum(), 6)

    def test_places(self):
        cpu, cuda = ort.OrtDevice.make("cpu", 0), ort.OrtDevice.make("cuda", 1)
        self.assertEqual((cpu.device_type(), cpu.device_id(), cpu.device_mem_type()), (ort.OrtDevice.cpu(), 0, 0))
        self.assertEqual(cpu.device_vendor_id(), ort.OrtDeviceVendorId.NONE)
        self.assertEqual((cuda.device_type(), cuda.device_id()), (ort.OrtDevice.gpu(), 1))
        self.assertEqual(cuda.device_vendor_id(), ort.OrtDeviceVendorId.NVIDIA)
        by_numbers = ort.OrtDevice(ort.OrtDevice.npu(), ort.OrtDevice.default_memory(), 0x5143, 2)
        self.assertEqual((by_numbers.device_vendor_id(), by_numbers.device_id()), (0x5143, 2))
        x = np.float32([1, 2])
        self.assertEqual(ort.OrtValue.ortvalue_from_numpy(x, cpu).data_ptr(), x.ctypes.data)
        for refused in (cuda, "cuda"):
            with self.assertRaises(ort.NotImplemented):
                ort.OrtValue.ortvalue_from_numpy(x, refused)
        with self.assertRaisesRegex(RuntimeError, "Unsupported device type: tape"):
            ort.OrtDevice.make("tape", 0)

    def test_what_is_not_there_says_so(self):
        ort.preload_dlls(cuda=False)
        self.assertFalse(ort.has_collective_ops())
        value = ort.OrtValue.ortvalue_from_numpy(np.float32([1]))
        self.assertTrue(value.has_value())
        (device,) = ort.get_ep_devices()
        self.assertEqual((device.ep_name, device.device.type), ("CPUExecutionProvider", ort.OrtHardwareDeviceType.CPU))
        for call, said in (
            (lambda: ort.register_execution_provider_library("x", "y.so"), "no provider can be loaded"),
            (lambda: ort.OrtValue.ortvalue_from_shape_and_type([1], np.float32, "cuda"), "\"cpu\" alone"),
        ):
            with self.assertRaisesRegex(ort.NotImplemented, said):
                call()

    def test_threads_that_sessions_share(self):
        with self.assertRaisesRegex(ort.InvalidArgument, "expected 0 to .*, got -1"):
            ort.set_global_thread_pool_sizes(-1, 1)
        ort.set_global_thread_pool_sizes(1, 1)
        options = ort.SessionOptions()
        options.use_per_session_threads = False
        session = ort.InferenceSession(models.unary("Relu"), options)
        np.testing.assert_array_equal(session.run(None, {"x": np.float32([[-1, 0, 2]])})[0], [[0, 0, 2]])


if __name__ == "__main__":
    unittest.main()
