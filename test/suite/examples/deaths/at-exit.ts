/** Dies when all tests of its process have ended. */
import test from '#test'

process.prependListener('exit', () => process.kill(process.pid, 'SIGKILL'))

test('one', (t) => t.pass())
