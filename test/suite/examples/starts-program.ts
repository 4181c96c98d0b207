/** Starts a program and waits for ever. `FAILS_ONCE_FOLDER` says where the id of the program goes. */
import { spawn } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from '#test'

test('it waits', async (t) => {
  const { pid } = spawn('sleep', ['1000'])
  const note = join(process.env['FAILS_ONCE_FOLDER'] ?? '', 'pid')
  writeFileSync(`${note}-part`, String(pid))
  renameSync(`${note}-part`, note)
  for (;;) t.truthy(pid)
})
