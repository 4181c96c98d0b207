/** The program in the sources: the required Node.js version, and the end of its process. */
import test from '#test'
import { runCommand } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

/** Code that runs in a process before the program. */
const before = (code: string) => ({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` })

test('commands: end after their work despite open handles', async (t) => {
  await using folder = await temporaryFolder('open')
  const env = before("import { createServer } from 'node:net'; createServer().listen(0, '127.0.0.1')")
  const { code, output } = await runCommand({ folder: folder.path, env }, '--version')
  t.is(code, 0)
  t.regex(output, /^\d+\.\d+\.\d+\n$/)
})

test('older Node.js: the error is a sentence about the required version', async (t) => {
  await using folder = await temporaryFolder('older')
  const lacking = "({ url: 'data:text/javascript,export const createRequire = undefined', shortCircuit: true })"
  const env = before(
    `import { registerHooks } from 'node:module'
     registerHooks({ resolve: (name, context, next) => (name === 'node:module' ? ${lacking} : next(name, context)) })`,
  )
  const { code, output } = await runCommand({ folder: folder.path, env }, '--version')
  t.is(code, 78)
  t.regex(output, /^Postern needs Node\.js 24, and this is v[\d.]+\. /)
})
