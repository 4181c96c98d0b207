/** An older Node.js, such as that of the system, starts the program, which restarts itself with the Node.js of its packages. */
import { chmod, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from '#test'
import { Daemon, programOf } from '../support/daemon/daemon.ts'
import { waitFor } from '../support/waits.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'

const root = new URL('../../', import.meta.url)
const program = fileURLToPath(new URL('daemon/postern.js', root))

/** Features that an older Node.js lacks. */
const withoutHooks = `import modules, { syncBuiltinESMExports } from 'node:module'
delete modules.registerHooks
syncBuiltinESMExports()
`
/** Version 22 has the hooks. */
const ofVersion22 = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.20.0' } })\n"

interface OlderNode {
  readonly folder: string
  /** A program `node` that is older. It reports each start on its standard error, with the arguments of Node.js. */
  readonly node: string
  /** An environment with the folder of that program first in PATH. */
  readonly env: NodeJS.ProcessEnv
}

/** Node.js that claims to be older at its first start. The Node.js of the packages, started with the same arguments, does not. */
async function olderNode(t: ExecutionContext, older = withoutHooks): Promise<OlderNode> {
  const folder = await temporaryFolder('own-node')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const bin = join(folder.path, 'bin')
  await mkdir(bin)
  const first = join(folder.path, 'first.mjs')
  await writeFile(join(folder.path, 'older.mjs'), older)
  await writeFile(first, "if (process.env.OLDER_NODE) await import('./older.mjs')\ndelete process.env.OLDER_NODE\n")
  const node = join(bin, 'node')
  await writeFile(node, `#!/bin/sh\nOLDER_NODE=1 exec '${process.execPath}' --import='${first}' "$@"\n`)
  await chmod(node, 0o755)
  return { folder: folder.path, node, env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` } }
}

/** A daemon started by the older Node.js, and the process of that Node.js. */
async function startWith(
  t: ExecutionContext,
  command: readonly string[] = [],
): Promise<{ readonly daemon: Daemon; readonly first: number }> {
  const { folder, node } = await olderNode(t)
  const daemon = await Daemon.start({ folder, wrapper: [...command, 'sh', '-c', 'shift; exec "$0" "$@"', node] })
  t.teardown(() => daemon[Symbol.asyncDispose]())
  const status = await readFile(`/proc/${daemon.addresses.pid}/status`, 'utf8')
  return { daemon, first: Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]) }
}

/** A connection with a request that keeps the daemon from stopping at once. */
async function unfinishedRequest(daemon: Daemon): Promise<Socket> {
  const { hostname, port } = new URL(`http://${daemon.addresses.http}`)
  const socket = connect(Number(port), hostname)
  const head = [
    `POST /v1/messages HTTP/1.1`,
    'Host: postern.test',
    `Authorization: Bearer ${daemon.adminKey}`,
    'Content-Type: application/json',
  ]
  socket.write([...head, 'Content-Length: 100', 'Expect: 100-continue', '', ''].join('\r\n'))
  await once(socket, 'data') // 100 Continue
  return socket
}

const isAlive = (pid: number): boolean => spawnSync('kill', ['-0', String(pid)]).status === 0

test('an older Node.js runs a command with the own one: arguments, output and exit code', async (t) => {
  for (const older of [withoutHooks, ofVersion22]) {
    const { node, env } = await olderNode(t, older)
    const tell = 'console.error(process.versions.node, process.execArgv.at(-1), process.env.OLDER_NODE)'
    const flags = [`--import=data:text/javascript,${tell}`, '--max-semi-space-size=8']
    const version = spawnSync(node, [...flags, program, '--version'], { env, encoding: 'utf8' })
    t.regex(version.stdout, /^\d+\.\d+\.\d+\n$/)
    t.is(version.status, 0)
    t.is(version.stderr.split('\n').filter((line) => line.endsWith(' --max-semi-space-size=8 undefined')).length, 2, version.stderr)
    t.true(version.stderr.endsWith(`${process.versions.node} --max-semi-space-size=8 undefined\n`))
    const usage = spawnSync(program, ['send', '--to', 'no one'], { env, encoding: 'utf8' })
    t.like(usage, { status: 64, stdout: '', stderr: 'send needs --from and --to. Try postern send --help.\n' })
  }
})

test('a link sendmail keeps its name and its standard input with an older Node.js', async (t) => {
  const { folder, env } = await olderNode(t)
  const options = { folder, env: { POSTERN_HTTP_LISTEN: '127.0.0.1:1', PATH: String(env['PATH']) } }
  await mkdir(join(folder, 'data/store'), { recursive: true })
  const link = join(folder, 'sendmail')
  await symlink(program, link)
  const input = 'From: shop@site.test\nTo: ann@inbox.test\nSubject: Kept\n\nHello\n'
  const { status, stdout, stderr } = spawnSync(link, ['-t', '-i'], { env: programOf(options).env, input, encoding: 'utf8' })
  t.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' })
  const [name = '', ...others] = await readdir(join(folder, 'data/spool'))
  t.deepEqual(others, [])
  t.regex(await readFile(join(folder, 'data/spool', name), 'utf8'), /Subject: Kept/)
})

test('SIGTERM to the older Node.js stops serve() in order', async (t) => {
  const { daemon, first } = await startWith(t)
  process.kill(first, 'SIGTERM')
  t.deepEqual(await daemon.exited, { code: 0, signal: null })
  t.regex(daemon.log, /"stopped"/)
  t.false(isAlive(daemon.addresses.pid))
})

test('a signal to both processes, as a terminal or systemd sends it, stops serve() in order', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const { daemon, first } = await startWith(t, ['setsid'])
    process.kill(-first, signal)
    t.deepEqual(await daemon.exited, { code: 0, signal: null })
    t.regex(daemon.log, /"stopped"/)
    t.notRegex(daemon.log, /second signal/)
  }
})

test('a signal that the first process forwards after the program has handled it does not end the program', async (t) => {
  const program = `
    import { takeForwardedSignals } from ${JSON.stringify(new URL('daemon/process/own-node.js', root).href)}
    takeForwardedSignals()
    process.once('SIGTERM', () => process.send('handled'))
    process.on('message', (message) => { if (message === 'end') process.exit(0) })
    process.channel.ref()
    process.send('ready')`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const exited = once(child, 'exit')
  await once(child, 'message')
  child.kill('SIGTERM')
  await once(child, 'message')
  child.send('SIGTERM')
  child.send('end', () => {}) // fails if the signal has ended the program
  t.deepEqual(await exited, [0, null])
})

test('a signal to both processes counts once, also if the first process forwards it late', async (t) => {
  const { daemon, first } = await startWith(t, ['setsid'])
  const slow = await unfinishedRequest(daemon)
  t.teardown(() => slow.destroy())
  process.kill(first, 'SIGSTOP')
  process.kill(-first, 'SIGINT')
  await daemon.said(/"stopping"/)
  process.kill(first, 'SIGUSR2') // its signal number is higher, so it is forwarded after SIGINT
  process.kill(first, 'SIGCONT')
  await daemon.said(/levels of the log changed/)
  t.notRegex(daemon.log, /second signal/)
  process.kill(-first, 'SIGINT')
  t.deepEqual(await daemon.exited, { code: 1, signal: null })
  t.regex(daemon.log, /second signal/)
})

test('SIGKILL to the older Node.js while serve() stops does not cut the stop short', async (t) => {
  const { daemon, first } = await startWith(t, ['setsid'])
  const slow = await unfinishedRequest(daemon)
  t.teardown(() => slow.destroy())
  process.kill(-first, 'SIGTERM')
  await daemon.said(/"stopping"/)
  process.kill(first, 'SIGKILL')
  t.deepEqual(await daemon.exited, { code: null, signal: 'SIGKILL' })
  slow.end('x'.repeat(100))
  await daemon.said(/"stopped"/)
  t.notRegex(daemon.log, /second signal/)
})

test('SIGKILL to the older Node.js stops serve() in order', async (t) => {
  const { daemon, first } = await startWith(t)
  process.kill(first, 'SIGKILL')
  t.like(await daemon.exited, { signal: 'SIGKILL' })
  await daemon.said(/"stopped"/)
  await waitFor('the daemon ends', async () => (isAlive(daemon.addresses.pid) ? undefined : true))
})

test('SIGUSR2 and SIGHUP to the older Node.js reach serve(), and a signal that ends it ends both', async (t) => {
  const { daemon, first } = await startWith(t)
  process.kill(first, 'SIGUSR2')
  await daemon.said(/levels of the log changed/)
  process.kill(first, 'SIGHUP')
  await daemon.said(/SIGHUP: looking at the certificate/)
  t.deepEqual(await daemon.kill(), { code: null, signal: 'SIGKILL' })
  t.false(isAlive(first))
})

test('older Node.js: the error names the required version without a usable own one', async (t) => {
  const { folder } = await olderNode(t)
  const copy = join(folder, 'copy')
  for (const name of ['package.json', 'daemon/postern.js', 'daemon/process'])
    await cp(new URL(name, root), join(copy, name), { recursive: true })
  for (const path of [program, join(copy, 'daemon/postern.js')]) {
    const { status, stderr } = spawnSync(process.execPath, [`--import=${join(folder, 'older.mjs')}`, path, 'serve'], { encoding: 'utf8' })
    t.is(status, 78)
    t.regex(stderr, /^Postern needs Node\.js 24, and this is v\S+\. Use "npm start" or "npx postern", which bring their own\.\n$/)
  }
})

test('own Node.js: an error names it if it does not start', async (t) => {
  const { folder } = await olderNode(t)
  for (const name of ['package.json', 'daemon/postern.js', 'daemon/process'])
    await cp(new URL(name, root), join(folder, name), { recursive: true })
  const own = join(folder, `node_modules/node-${process.platform}-${process.arch}/bin/node`)
  await mkdir(join(own, '..'), { recursive: true })
  await writeFile(own, '')
  const args = [`--import=${join(folder, 'older.mjs')}`, join(folder, 'daemon/postern.js'), '--version']
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  t.is(status, 78)
  t.true(stderr.startsWith(`${own} does not start: EACCES.\nPostern needs Node.js 24`), stderr)
})
