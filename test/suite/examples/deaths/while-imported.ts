/** Dies while it is imported. */
import test from '#test'

process.kill(process.pid, 'SIGKILL')

test('one', (t) => t.pass())
