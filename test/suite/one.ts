/** `npm run test:one FILE [TITLE]`: runs one module in its own process, without builds. In a title, `*` matches any characters. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(fileURLToPath(import.meta.url), '../../..')
const [file, title] = process.argv.slice(2)
if (file === undefined) {
  console.error('Usage: npm run test:one FILE [TITLE], such as npm run test:one test/core/delivery/backoff.test.ts')
  process.exitCode = 2
} else if (!file.endsWith('.test.ts') || !existsSync(resolve(root, file))) {
  console.error(`There is no test module ${file}. Give the path of a file test/**/*.test.ts.`)
  process.exitCode = 2
} else {
  const args = [join(root, 'node_modules/.bin/ava'), file, ...(title === undefined ? [] : ['--match', title])]
  const env = { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/postern'), ...process.env }
  process.exitCode = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' }).status ?? 1
}
