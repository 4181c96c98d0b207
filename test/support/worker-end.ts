/**
 * Loaded into the process of every file of tests: one that lives on after its last test says what it holds and ends, where it would
 * otherwise keep the whole run waiting.
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
