/**
 * Bundles the dashboard for browsers: `node admin-api/dashboard/build.ts`. `npm ci` runs it. File names contain a content hash, so that
 * browsers can cache them permanently. `manifest.json` lists the files that the shell page loads.
 */
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { catalogPlugin } from '../catalogs/catalog-plugin.ts'
import { builtFolder, type Manifest } from './built-files.ts'
import { placeFiles, type BuiltFile } from './place-files.ts'
import { sheetPlugin } from './sheet-plugin.ts'

const client = join(import.meta.dirname, 'client')

export async function buildDashboard(): Promise<void> {
  placeFiles(builtFolder, await bundleDashboard())
}

/** Returns the built files. The manifest is the last one. */
export async function bundleDashboard(): Promise<readonly BuiltFile[]> {
  const { outputFiles, metafile } = await build({
    entryPoints: { main: join(client, 'shell/main.tsx'), theme: join(client, 'shell/theme.ts') },
    outdir: builtFolder,
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    minify: true,
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: join(client, 'tsconfig.json'),
    plugins: [catalogPlugin, sheetPlugin],
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  const files = outputFiles.flatMap(({ path, contents }) => [
    [basename(path), contents] as const,
    [`${basename(path)}.gz`, gzipSync(contents, { level: 9 })] as const,
  ])
  return [...files, ['manifest.json', JSON.stringify(manifestOf(metafile))]]
}

function manifestOf({ outputs }: Metafile): Manifest {
  const files = Object.entries(outputs)
  const script = files.find(([, { entryPoint }]) => entryPoint?.endsWith('shell/main.tsx'))
  const theme = files.find(([, { entryPoint }]) => entryPoint?.endsWith('shell/theme.ts'))
  if (!script?.[1].cssBundle || !theme) throw new Error('esbuild produced no script, style sheet or theme')
  const preload = importsOf(script[1])
  const overview = files.find(([, { entryPoint }]) => entryPoint?.endsWith('overview/overview.tsx'))
  if (!overview) throw new Error('esbuild produced no start screen')
  const start = [basename(overview[0]), ...importsOf(overview[1])].filter((name) => !preload.includes(name) && name !== basename(script[0]))
  return { theme: basename(theme[0]), script: basename(script[0]), style: basename(script[1].cssBundle), preload, start }
}

const importsOf = ({ imports }: Metafile['outputs'][string]): readonly string[] =>
  imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path))

if (import.meta.main) await buildDashboard()
