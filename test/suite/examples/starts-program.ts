/** A test that starts a program and blocks the event loop. `FAILS_ONCE_FOLDER` is the folder for the process id of the program. */
import { spawn } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from '#test'

test('an endless loop', async (t) => {
  const { pid } = spawn('sleep', ['1000'])
  const note = join(process.env['FAILS_ONCE_FOLDER'] ?? '', 'pid')
  writeFileSync(`${note}-part`, String(pid))
  renameSync(`${note}-part`, note)
  for (;;) t.truthy(pid)
})
