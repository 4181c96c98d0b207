/** The daemon writes only to its data folder, according to the kernel. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Daemon, portOf } from '../../support/daemon/daemon.ts'
import { makeDestination, makeLogin, makeRoute } from '../../support/daemon/provision.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { testWith } from '../../support/peers/peers.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'

const changing = [
  'mkdir',
  'mkdirat',
  'rename',
  'renameat',
  'renameat2',
  'link',
  'linkat',
  'symlink',
  'symlinkat',
  'truncate',
  'mknod',
  'mknodat',
]
const alsoChanging = ['chmod', 'fchmodat', 'chown', 'lchown', 'fchownat', 'unlink', 'unlinkat', 'rmdir']
const opening = ['open', 'openat', 'openat2', 'creat']

/** Paths that a line of strace opened for writing, created, moved or removed. Empty for failed calls. */
function writtenBy(line: string): readonly string[] {
  const [, name = '', args = '', result = ''] = /(\w+)\((.*)\)\s+= (\S+)/.exec(line) ?? []
  if (result.startsWith('-1') || result === '?') return []
  if (opening.includes(name) && name !== 'creat' && !/O_(?:WRONLY|RDWR|CREAT)/.test(args)) return []
  return [...args.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, path = '']) => path)
}

testWith('strace')('serve: writes only to its data folder, from start to stop', async (t) => {
  await using folder = await temporaryFolder('written-files')
  await using sink = await Sink.listen()
  const record = join(folder.path, 'calls')
  const calls = [...opening, ...changing, ...alsoChanging].map((name) => `?${name}`).join(',')
  const wrapper = ['strace', '-f', '-s', '4096', '-e', `trace=${calls}`, '-o', record]
  const daemon = await Daemon.start({ folder: folder.path, wrapper, env: { NODE_COMPILE_CACHE: '', POSTERN_HTTPS_LISTEN: '127.0.0.1:0' } })
  t.teardown(() => daemon[Symbol.asyncDispose]())
  const relay = await makeDestination(daemon.rest, { name: 'smart host', port: sink.port, mode: 'live' })
  await makeRoute(daemon.rest, relay)
  const client = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission[0]) }, await makeLogin(daemon.rest, relay))
  const content = Buffer.from(`From: a@relay.test\r\nTo: b@inbox.test\r\nSubject: files\r\n\r\n${`${'x'.repeat(76)}\r\n`.repeat(3000)}`)
  t.like(await client.send({ from: 'a@relay.test', to: ['b@inbox.test'], content }), { accepted: true })
  await client.quit()
  await daemon.rest.must('POST', '/v1/messages', { from: 'a@relay.test', to: 'b@inbox.test', text: 'hello' })
  process.kill(daemon.addresses.pid, 'SIGHUP')
  t.is((await daemon.stop()).code, 0, daemon.log)

  const written = (await readFile(record, 'utf8')).split('\n').flatMap(writtenBy)
  const data = join(folder.path, 'data')
  t.true(
    written.some((path) => path.startsWith(join(data, 'store'))),
    'the record contains the writes',
  )
  t.true(written.some((path) => path.startsWith(join(data, 'tls'))))
  /** Files that the caller names, and devices. */
  const named = (path: string): boolean => path.startsWith(join(folder.path, 'ready')) || /^\/(?:dev\/(?:null|tty)|proc\/self\/)/.test(path)
  const elsewhere = written.filter((path) => path !== data && !path.startsWith(`${data}/`) && !named(path))
  t.deepEqual([...new Set(elsewhere)], [])
})
