/** A module that kills its process after all tests. */
import test from '#test'

process.prependListener('exit', () => process.kill(process.pid, 'SIGKILL'))

test('one', (t) => t.pass())
