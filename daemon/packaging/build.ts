/**
 * Builds the program in few files, which `npm ci` does by itself: `node daemon/packaging/build.ts`. Finding and reading a thousand
 * modules is a fifth of a start, and their text stays in memory. `postern.js` runs what is built while no source has changed.
 */
import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import { placeFiles } from '../../admin-api/dashboard/place-files.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'build/daemon')

/** Scripts of threads, each by the name that it has among the sources. */
const threads = [
  'admin-api/bodies/json-worker.ts',
  'ingest/authentication/authentication-worker.ts',
  'ingest/inspect/score-worker.ts',
  'ingest/messages/mime-worker.ts',
  'ingest/messages/rewrite-worker.ts',
  'ingest/report/report-worker.ts',
]

/** What modules of both kinds use of Node without an import. */
const outside = `import { createRequire as $require } from 'node:module'
import { fileURLToPath as $pathOf } from 'node:url'
const $here = import.meta.url
const require = $require($here)`

/** What `postern.js` reads. */
export interface BuiltFrom {
  /** With the time and the size that each had. */
  readonly sources: readonly (readonly [path: string, modifiedMs: number, octets: number])[]
  /** Names of what was built; a program of which one is missing is not run. */
  readonly files: readonly string[]
}

/** The time and the size of each source by its path, before it was read. */
type Looks = Map<string, readonly [modifiedMs: number, octets: number]>

/** Writes everything anew. */
export async function buildDaemon(): Promise<void> {
  const looks: Looks = new Map()
  for (const path of ['package.json', 'package-lock.json']) lookAt(path, looks)
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['daemon/main.ts', ...threads],
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    external: ['classic-level'],
    legalComments: 'none',
    banner: { js: outside },
    plugins: [placesOfSources(looks)],
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  assertNamesAreKept(metafile)
  const files = outputFiles.map(({ path, contents }) => [basename(path), contents] as const)
  const built: BuiltFrom = { sources: sourcesOf(looks), files: files.map(([name]) => name) }
  placeFiles(folder, [...files, ['built-from.json', JSON.stringify(built)]])
}

/** Threads lie beside what starts them; all else that a source looks for is found from where the source lies. */
const placesOfSources = (looks: Looks): Plugin => ({
  name: 'places of sources',
  setup(bundler) {
    bundler.onLoad({ filter: /./, namespace: 'file' }, ({ path }) => {
      lookAt(relative(root, path), looks)
      if (!/\.(ts|js|mjs|cjs)$/.test(path)) return undefined
      const text = readFileSync(path, 'utf8')
      if (!/\bimport\.meta\b|\b__(dirname|filename)\b/.test(text)) return undefined
      const url = (to: string): string => `new URL(${JSON.stringify(relative(folder, to))}, $here).href`
      const places: Readonly<Record<string, string>> = {
        'import.meta.url': url(path),
        'import.meta.dirname': `$pathOf(${url(dirname(path))})`,
        __filename: `$pathOf(${url(path)})`,
        __dirname: `$pathOf(${url(dirname(path))})`,
      }
      const contents = text.replaceAll(
        /new URL\('\.\/([\w-]+-worker)\.ts', import\.meta\.url\)|\bimport\.meta\.(?:url|dirname)\b|\b__(?:dirname|filename)\b/g,
        (found, thread?: string) => places[found] ?? `new URL('./${knownThread(path, String(thread))}.mjs', $here)`,
      )
      return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' }
    })
  },
})

function knownThread(importer: string, name: string): string {
  const path = relative(root, join(dirname(importer), `${name}.ts`))
  if (!threads.includes(path)) throw new Error(`${path} is the script of a thread: name it in daemon/packaging/build.ts`)
  return name
}

/** Looks before the source is read, so that a change while the program is built counts as one after it. */
function lookAt(path: string, looks: Looks): void {
  if (path.includes('node_modules/')) return
  const { mtimeMs, size } = statSync(join(root, path))
  looks.set(path, [mtimeMs, size])
}

/** A package in CommonJS that is imported when it is needed has its names in Node.js, and its default alone in what esbuild makes of it. */
function assertNamesAreKept({ inputs }: Metafile): void {
  for (const [importer, { imports }] of Object.entries(inputs)) {
    if (importer.includes('node_modules/')) continue
    for (const { kind, path, original = path } of imports) {
      if (kind !== 'dynamic-import' || inputs[path]?.format !== 'cjs') continue
      const isByDefault = new RegExp(`\\{ default: \\w+ \\} = await import\\('${original}'\\)`).test(
        readFileSync(join(root, importer), 'utf8'),
      )
      if (!isByDefault)
        throw new Error(`${importer}: ${original} is CommonJS: take its default, const { default: name } = await import('${original}')`)
    }
  }
}

const sourcesOf = (looks: Looks): BuiltFrom['sources'] =>
  [...looks].map(([path, look]) => [path, ...look] as const).sort(([a], [b]) => (a < b ? -1 : 1))

if (import.meta.main) await buildDaemon()
