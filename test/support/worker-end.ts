/**
 * Loaded into the process of every test file: a process that does not end after its last test reports its open resources and exits, so that
 * the run does not wait for it.
 */
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { registerCompletionHandler } from 'ava'

const graceMs = 60_000

registerCompletionHandler(() => {
  const timer = setTimeout(() => {
    const open = [...new Set(process.getActiveResourcesInfo())].join(', ')
    const file = relative('', fileURLToPath(test.meta.file))
    process.stderr.write(`\n… the tests of ${file} are over, and its process does not end. It still holds: ${open}\n`)
    process.exit()
  }, graceMs)
  timer.unref()
})
