/** The files that the Containerfile copies are sufficient to run: the same files in a folder, as the root of a file system. */
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, copyFile, mkdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { binaryOf, makeBinary } from '../../../daemon/packaging/single-binary.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { waiting } from '../../support/waits.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { testWith } from '../../support/peers/peers.ts'

/** User of the image. */
const user = 10_001
const file = fileURLToPath(new URL('../../../daemon/packaging/container/Containerfile', import.meta.url))

/** Copies the files of the last stage from this system. */
async function fill(root: string): Promise<void> {
  const [, last = ''] = (await readFile(file, 'utf8')).split('FROM scratch')
  for (const [, from, args = ''] of last.matchAll(/^COPY (--from=system )?(\/[^\n]+|build[^\n]+)$/gm)) {
    const sources = args.split(' ')
    const to = sources.pop() ?? ''
    for (const source of sources) {
      const target = join(root, to, to.endsWith('/') ? basename(source) : '')
      await mkdir(dirname(target), { recursive: true })
      await copyFile(from === undefined ? binaryOf('linux-x64') : source, target)
    }
  }
}

testWith('unshare')('Containerfile: the binary runs with only the copied files', async (t) => {
  await using folder = await temporaryFolder('container')
  await makeBinary('linux-x64')
  const root = join(folder.path, 'root')
  await fill(root)
  const data = join(root, 'var/lib/postern')
  await mkdir(data, { recursive: true })
  await chmod(folder.path, 0o755)
  await chown(data, user, user)
  const own = { POSTERN_DATA_DIR: '/var/lib/postern', POSTERN_MX_LISTEN: '127.0.0.1:0', POSTERN_SUBMISSIONS_LISTEN: '127.0.0.1:0' }
  const env = { ...own, POSTERN_HTTP_LISTEN: '127.0.0.1:0', POSTERN_SUBMISSION_LISTEN: '127.0.0.1:0' }
  const args = [`--userspec=${String(user)}:${String(user)}`, root, '/usr/bin/postern', 'serve']
  const daemon = spawn('/usr/sbin/chroot', args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => daemon.kill('SIGKILL'))
  const output = await waiting('the daemon is ready', untilReady(daemon))
  const [, http = ''] = /"http":"([^"]+)"/.exec(output) ?? []
  const [key = ''] = /svckey_[\w-]+/.exec(output) ?? []
  const { trace_id } = await new RestClient(http, key).must('POST', '/v1/messages', {
    from: 'a@example.com',
    to: 'b@example.net',
    text: 'x',
  })
  t.is(typeof trace_id, 'string')
  const ended = once(daemon, 'close')
  daemon.kill('SIGTERM')
  t.deepEqual(await ended, [0, null])
})

async function untilReady({ stdout, stderr }: ChildProcessByStdio<null, Readable, Readable>): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let output = ''
  for (const stream of [stdout, stderr])
    stream.on('data', (text: Buffer) => {
      output += text.toString('utf8')
      if (output.includes('"msg":"ready"')) resolve(output)
    })
  return promise
}
