/**
 * Creates the single binary: `npm run package`, or `npm run package -- linux-arm64` for that system. It is Node.js with all of Postern: the
 * bundle of `bundle.ts`, LevelDB's native code, and the files that the program reads at run time. The same commit always creates the same
 * octets.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bundleDashboard } from '../../admin-api/dashboard/build.ts'
import type { BuiltFile } from '../../admin-api/dashboard/place-files.ts'
import { bundleDocs } from '../../admin-api/docs-site/build.ts'
import { bundleFormScripts } from '../../admin-api/pages/forms/scripts/build.ts'
import { bundleDaemon, root } from './bundle.ts'
import { madeOf } from './made-of.ts'
import { run } from './run-command.ts'
import { billFile, billOfMaterials, licenceTexts, textsFile } from './shipped-packages.ts'

const systems = { 'linux-x64': 'strip', 'linux-arm64': 'aarch64-linux-gnu-strip' } as const
export type System = keyof typeof systems

/** Returns the path of the binary for a system. */
export const binaryOf = (system: System): string => join(root, 'build', `postern-${system}`)

/** Writes only the binary, and replaces it atomically. */
export async function makeBinary(system: System): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'postern-package-'))
  try {
    const blob = await blobOf(system, folder)
    const made = join(folder, 'postern')
    copyFileSync(nodeOf(system, folder), made)
    chmodSync(made, 0o755)
    strip(made, system)
    inject(made, blob)
    const binary = binaryOf(system)
    mkdirSync(dirname(binary), { recursive: true })
    const temporary = `${binary}.${String(process.pid)}.new`
    copyFileSync(made, temporary)
    renameSync(temporary, binary)
    return binary
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Creates the blob that Node embeds, with this version of Node, and returns its path. */
async function blobOf(system: System, folder: string): Promise<string> {
  const assets = new Map<string, string>(globSync(ownFiles, { cwd: root }).map((name) => [name, join(root, name)]))
  assets.set('classic-level.node', nativeCodeOf(system))
  for (const [name, content] of await madeFiles()) {
    const path = join(folder, 'files', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    assets.set(name, path)
  }
  const output = join(folder, 'blob')
  const settings = {
    main: start, // relative, because the binary contains this path
    output,
    disableExperimentalSEAWarning: true,
    execArgv: startFlags(),
    assets: Object.fromEntries([...assets].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
  const settingsFile = join(folder, 'blob.json')
  writeFileSync(settingsFile, JSON.stringify(settings))
  run(process.execPath, '--experimental-sea-config', settingsFile)
  return output
}

const start = 'daemon/packaging/single-binary-start.js'
/** Files that the program reads at run time, by their path among the sources. */
const ownFiles = [
  'package.json',
  start,
  'config/catalogs/*/*.json',
  'admin-api/catalogs/pages/*/*.json',
  'admin-api/docs/*.md',
  'admin-api/pages/assets/*',
]

async function madeFiles(): Promise<readonly BuiltFile[]> {
  const [daemon, dashboard, docs, forms] = await Promise.all([
    bundleDaemon({ isWhole: true }),
    bundleDashboard(),
    bundleDocs(),
    bundleFormScripts(),
  ])
  const under = (folder: string, files: readonly BuiltFile[]): readonly BuiltFile[] =>
    files.map(([name, content]) => [`${folder}/${name}`, content])
  return [
    ...under('build/daemon', daemon),
    ...under('admin-api/dashboard/built', dashboard),
    ...under('admin-api/docs-site/built', docs),
    ...under('admin-api/pages/forms/built', forms),
    ['made-of.json', JSON.stringify(madeOf())],
    [textsFile, licenceTexts()],
    [billFile, billOfMaterials(madeOf())],
  ]
}

/** Returns the flags of `npm start`. */
function startFlags(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } }
  return scripts.start.split(' ').filter((word) => word.startsWith('--'))
}

/** Returns the Node binary of this version, for which the blob is created: the installed one, or the package for another system. */
function nodeOf(system: System, folder: string): string {
  if (system === `${process.platform}-${process.arch}`) return process.execPath
  const name = `node-${system}`
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>
  }
  const { version, integrity } = lock.packages[`node_modules/${name}`] ?? {}
  if (`v${String(version)}` !== process.version) throw new Error(`${name} in package-lock.json is not of version ${process.version}.`)
  const archive = join(folder, run('npm', 'pack', '--silent', '--pack-destination', folder, `${name}@${String(version)}`))
  const digest = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
  if (digest !== integrity) throw new Error(`${name} is not what package-lock.json says: ${digest}.`)
  run('tar', '-xzf', archive, '-C', folder, 'package/bin/node')
  return join(folder, 'package/bin/node')
}

/** Returns the native code of the package, for systems with glibc. */
function nativeCodeOf(system: System): string {
  const folder = join(root, 'node_modules/classic-level/prebuilds', system)
  const [file] = globSync('classic-level*.node', { cwd: folder }).filter((name) => !name.includes('musl'))
  if (file === undefined) throw new Error(`classic-level has no native code for ${system}.`)
  return join(folder, file)
}

/** Its warnings about linker notes do not matter in a stripped program. */
function inject(file: string, blob: string): void {
  const program = join(root, 'node_modules/postject/dist/cli.js')
  const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
  run(process.execPath, program, file, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse)
}

/** Removes function names, which only debuggers of Node need. They are a seventh of the binary. */
function strip(file: string, system: System): void {
  const program = systems[system]
  if (spawnSync(program, ['--version']).status === 0) run(program, '--strip-unneeded', file)
  else process.stderr.write(`${program} is not installed: the binary keeps what only debuggers need, some 18 MB.\n`)
}

const isSystem = (name: string): name is System => Object.hasOwn(systems, name)

if (import.meta.main) {
  const wanted = process.argv.slice(2)
  for (const system of wanted.length > 0 ? wanted : [`${process.platform}-${process.arch}`]) {
    if (!isSystem(system)) throw new Error(`There is no binary for ${system}; there is one for ${Object.keys(systems).join(' and ')}.`)
    const binary = await makeBinary(system)
    process.stdout.write(`${binary} (${(statSync(binary).size / 1e6).toFixed(1)} MB)\n`)
  }
}
