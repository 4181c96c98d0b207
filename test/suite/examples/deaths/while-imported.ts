/** A module that kills its process during its import. */
import test from '#test'

process.kill(process.pid, 'SIGKILL')

test('one', (t) => t.pass())
