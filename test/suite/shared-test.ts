/** The `test` of every test module: AVA's, with the same types. */
import test from 'ava'

export type { ExecutionContext, SerialFn, TestFn } from 'ava'

export default test
