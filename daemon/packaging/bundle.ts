/** Bundles the modules of the program into a few files, for `build.ts` and for the single binary. */
import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import type { BuiltFile } from '../../admin-api/dashboard/place-files.ts'

export const root = join(import.meta.dirname, '../..')
/** Folder of the built files. Sources locate other files relative to their own original path. */
export const builtFolder = join(root, 'build/daemon')

/** Scripts of threads, by their path among the sources. */
const threads = [
  'admin-api/bodies/json/json-worker.ts',
  'ingest/authentication/authentication-worker.ts',
  'ingest/inspect/score-worker.ts',
  'ingest/messages/mime-worker.ts',
  'ingest/messages/rewrite-worker.ts',
  'ingest/report/report-worker.ts',
]

/** Node globals that both kinds of modules use without an import. */
const outside = `import { createRequire as $require } from 'node:module'
import { fileURLToPath as $pathOf } from 'node:url'
const $here = import.meta.url
const require = $require($here)`

/** Modification time and size of each source, taken before reading it, by path. */
export type Looks = Map<string, readonly [modifiedMs: number, octets: number]>

export interface BundleOptions {
  /** The bundle contains every package, and loads native code with `loadNativeCode`. There is no folder of packages. */
  readonly isWhole?: boolean
  readonly looks?: Looks
}

/** Returns the files. The entry point is `main.mjs`. */
export async function bundleDaemon({ isWhole = false, looks = new Map() }: BundleOptions = {}): Promise<readonly BuiltFile[]> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['daemon/main.ts', ...(isWhole ? ['daemon/process/use-compiled.js'] : []), ...threads],
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    outdir: builtFolder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    external: isWhole ? [] : ['classic-level'],
    legalComments: 'none',
    banner: { js: outside },
    plugins: [...(isWhole ? [nativeCodeInside] : []), placesOfSources(looks, isWhole)],
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  assertNamesAreKept(metafile)
  return outputFiles.map(({ path, contents }) => [basename(path), contents] as const)
}

/** LevelDB's binding requests its native code at the first call, after `loadNativeCode` has its folder. */
const nativeCodeInside: Plugin = {
  name: 'native code inside',
  setup(bundler) {
    bundler.onLoad({ filter: /[\\/]classic-level[\\/]binding\.js$/ }, () => ({
      contents: `const { nativeCode } = require(${JSON.stringify(join(root, 'config/own-files.ts'))})
        module.exports = new Proxy({}, { get: (_, name) => nativeCode('classic-level')[name] })`,
      resolveDir: root,
    }))
  },
}

/** A source that requires packages lazily. Without this line, esbuild bundles them. */
const ownRequire = /^const require = createRequire\(import\.meta\.url\)$/m

/** Thread scripts are next to the file that starts them. Other files are found relative to the original path of the source. */
const placesOfSources = (looks: Looks, isWhole: boolean): Plugin => ({
  name: 'places of sources',
  setup(bundler) {
    bundler.onLoad({ filter: /./, namespace: 'file' }, ({ path }) => {
      lookAt(relative(root, path), looks)
      if (!/\.(ts|js|mjs|cjs)$/.test(path)) return undefined
      const written = readFileSync(path, 'utf8')
      const text = isWhole && !path.includes('/node_modules/') ? written.replace(ownRequire, '') : written
      if (text === written && !/\bimport\.meta\b|\b__(dirname|filename)\b/.test(text)) return undefined
      const url = (to: string): string => `new URL(${JSON.stringify(relative(builtFolder, to))}, $here).href`
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
  if (!threads.includes(path)) throw new Error(`${path} is the script of a thread: name it in daemon/packaging/bundle.ts`)
  return name
}

/** Records the state of a source before reading it, so that a change during the build counts as later. */
export function lookAt(path: string, looks: Looks): void {
  if (path.includes('node_modules/')) return
  const { mtimeMs, size } = statSync(join(root, path))
  looks.set(path, [mtimeMs, size])
}

/** Checks dynamic imports of CommonJS packages. Node.js provides their names, but esbuild provides only the default export. */
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
