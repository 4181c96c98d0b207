/**
 * Modules that a start loads, as Node reports them: built files until a source changes, and compiled code of earlier starts. Rarely used
 * packages are not loaded.
 */
import { appendFile, chmod, cp, mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from 'node:fs/promises'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { buildDaemon, type BuiltFrom } from '../../daemon/packaging/build.ts'
import { Daemon } from '../support/daemon/daemon.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'

interface Load {
  /** End of the URL, relative to the folder of the project. */
  readonly path: string
  /** True if the code was compiled by an earlier start. */
  readonly found: boolean
}

/** Part of the last log line before the daemon is ready, if the service has no owner. */
const welcome = 'has no owner yet'
const root = new URL('../../', import.meta.url).href
/** The first module for the command line. */
const commandLine = 'build/daemon/main.mjs'
const isService = (path: string): boolean => path.startsWith('build/daemon/serve-')

test.before(() => buildDaemon())

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await temporaryFolder('loading')
  t.teardown(() => folder[Symbol.asyncDispose]())
  return folder.path
}

/**
 * Runs the daemon with the compiled code of its data folder, as `npm start` does. Returns the modules loaded until the welcome line. The
 * script `before` runs the program itself; a preload would disable the built files.
 */
async function loadsOf(folder: string, env: Readonly<Record<string, string>> = {}, before = ''): Promise<readonly Load[]> {
  const log = join(folder, 'loads.log')
  const wrapper = ['sh', '-c', `node=$1; shift; exec "$node" ${before} "$@" 2>'${log}'`, 'sh']
  await using daemon = await Daemon.start({ folder, wrapper, env: { NODE_COMPILE_CACHE: '', NODE_DEBUG_NATIVE: 'COMPILE_CACHE', ...env } })
  await daemon.stop()
  const [start = ''] = (await readFile(log, 'utf8')).split(welcome)
  return [...start.matchAll(/reading cache from .+ for \w+ (\S+?)\.\.\.(.*)/g)].map(([, url = '', result = '']) => ({
    path: url.replace(root, ''),
    found: result.includes('success'),
  }))
}

const compiled = (loads: readonly Load[]): string[] => loads.filter(({ found }) => !found).map(({ path }) => path)

test('serve(): compiles nothing from the second start in an existing data folder', async (t) => {
  const folder = await folderOf(t)
  await mkdir(join(folder, 'data'), { mode: 0o700 })
  const first = await loadsOf(folder)
  t.is(compiled(first).length, first.length)
  const second = await loadsOf(folder)
  t.deepEqual(compiled(second), [])
  t.true(second.some(({ path }) => path === commandLine))
  t.true(second.some(({ path }) => isService(path)))
})

test('serve(): ignores compiled code in a folder that others can write', async (t) => {
  const folder = await folderOf(t)
  await mkdir(join(folder, 'data'))
  await chmod(join(folder, 'data'), 0o777)
  for (let start = 0; start < 2; start++) {
    t.deepEqual(await loadsOf(folder), [])
  }
})

test('the program runs built files until a source changes', async (t) => {
  const copy = await folderOf(t)
  for (const name of ['admin-api', 'config', 'daemon', 'ingest', 'protocols', 'store', 'package.json', 'package-lock.json'])
    await cp(new URL(name, root), join(copy, name), { recursive: true })
  await symlink(new URL('node_modules', root), join(copy, 'node_modules'))
  const run = (...args: string[]): string => {
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' })
    return stdout + stderr
  }
  t.regex(run('daemon/postern.js', '--version'), /^\d+\.\d+\.\d+\n$/, 'nothing is built')
  t.is(run('daemon/packaging/build.ts'), '')
  await appendFile(join(copy, commandLine), "\nprocess.stdout.write('built\\n')\n")
  t.regex(run('daemon/postern.js', '--version'), /^\d+\.\d+\.\d+\nbuilt\n$/)
  const { sources, files } = JSON.parse(await readFile(join(copy, 'build/daemon/built-from.json'), 'utf8')) as BuiltFrom
  for (const [path, modifiedMs] of sources) await utimes(join(copy, path), 0, Math.trunc(modifiedMs / 1000))
  t.regex(run('daemon/postern.js', '--version'), /^\d+\.\d+\.\d+\nbuilt\n$/, 'archives and images keep whole seconds')
  for (const preload of [['--import=data:text/javascript,'], ['-r', 'node:fs'], ['--require=node:fs']])
    t.regex(
      run(...preload, 'daemon/postern.js', '--version'),
      /^\d+\.\d+\.\d+\n$/,
      `with preloaded code, the sources run: ${preload.join(' ')}`,
    )
  for (const name of [files.find((file) => file.startsWith('serve-')) ?? '', 'main.mjs']) {
    const path = join(copy, 'build/daemon', name)
    await rename(path, `${path}.gone`)
    t.regex(run('daemon/postern.js', '--version'), /^\d+\.\d+\.\d+\n$/, `without ${name}`)
    await rename(`${path}.gone`, path)
  }
  t.regex(run('daemon/postern.js', '--version'), /^\d+\.\d+\.\d+\nbuilt\n$/)
  await appendFile(join(copy, 'daemon/core/clock.ts'), '// changed\n')
  t.regex(run('daemon/postern.js', '--version'), /^\d+\.\d+\.\d+\n$/)
})

test('serve(): accepts a configuration file that can be read only once', async (t) => {
  const folder = await folderOf(t)
  const file = join(folder, 'config.json')
  await writeFile(file, JSON.stringify({ dataDir: join(folder, 'kept') }))
  const wrapper = ['sh', '-c', `cat '${file}' | "$@"`, 'sh']
  await using daemon = await Daemon.start({ folder, wrapper, env: { POSTERN_DATA_DIR: '', POSTERN_CONFIG: '/dev/stdin' } })
  t.true((await readdir(join(folder, 'kept'))).includes('store'))
  await daemon.stop()
})

/** Modules that most daemons never need, or need only in threads. */
const waiting = [
  ...[
    '@opentelemetry/api',
    '@simplewebauthn/server',
    'css-tree',
    'dataloader',
    'graphql',
    'graphql-http',
    'imapflow',
    'jose',
    'linkify-it',
  ],
  ...['mailauth', 'mailparser', 'pino-pretty', 'sanitize-html', 'tdigest'],
]

test('serve() is ready without the packages that wait for their first use', async (t) => {
  const loads = await loadsOf(await folderOf(t))
  const built = await Promise.all(
    loads.filter(({ path }) => path.startsWith('build/')).map(({ path }) => readFile(new URL(path, root), 'utf8')),
  )
  const modules = [...loads.map(({ path }) => path), ...built.flatMap((text) => text.match(/^ *\/\/ node_modules\/.+/gm) ?? [])]
  const packages = new Set(modules.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]))
  t.true(packages.has('pino'))
  t.deepEqual(
    waiting.filter((name) => packages.has(name)),
    [],
  )
})

/** Reports the creation of each Intl format and then creates it. */
const tellFormats = `for (const name of ['DateTimeFormat', 'NumberFormat', 'Segmenter', 'Collator', 'PluralRules']) {
  Intl[name] = new Proxy(Intl[name], { construct: (target, args) => (console.error('format made:', name), new target(...args)) })
}`

test('serve() is ready without the data of languages', async (t) => {
  const folder = await folderOf(t)
  const script = join(folder, 'tell-formats.mjs')
  const goOn = "process.argv.splice(1, process.argv.findIndex((word) => word.endsWith('postern.js')) - 1)\nawait import(process.argv[1])\n"
  await writeFile(script, `${tellFormats}\nnew Intl.NumberFormat('en')\n${goOn}`)
  t.true((await loadsOf(folder, {}, script)).some(({ path }) => isService(path)))
  const [start = ''] = (await readFile(join(folder, 'loads.log'), 'utf8')).split(welcome)
  t.deepEqual(start.match(/format made: \w+/g), ['format made: NumberFormat'], 'only the format that proves the check')
})

test('serve(): uses compiled code in the data folder of a configuration file', async (t) => {
  const folder = await folderOf(t)
  const file = join(folder, 'postern.json')
  await writeFile(file, JSON.stringify({ dataDir: join(folder, 'stored') }))
  const env = { POSTERN_CONFIG: file, POSTERN_DATA_DIR: '' }
  t.false((await loadsOf(folder, env)).some(({ path }) => path === commandLine))
  const second = compiled(await loadsOf(folder, env))
  t.true(second.includes(commandLine))
  t.false(second.some(isService))
  t.deepEqual(compiled(await loadsOf(folder, env)), [])
})
