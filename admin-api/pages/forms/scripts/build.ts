/**
 * Builds the scripts of forms for browsers: `node admin-api/pages/forms/scripts/build.ts`, which `npm ci` runs. File names contain a hash
 * of the content, so browsers may cache them forever. `manifest.json` lists the current files.
 */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild'
import { placeFiles, type BuiltFile } from '../../../dashboard/place-files.ts'
import { builtFolder, type ScriptManifest } from './built-scripts.ts'

/** Replaces all built files. */
export async function buildFormScripts(): Promise<void> {
  placeFiles(builtFolder, await bundleFormScripts())
}

/** Returns the files; the manifest is last. */
export async function bundleFormScripts(): Promise<readonly BuiltFile[]> {
  const common: BuildOptions & { readonly metafile: true; readonly write: false } = {
    ...{ outdir: builtFolder, entryNames: '[name]-[hash]', bundle: true, minify: true },
    ...{ metafile: true, write: false, plugins: [withoutUnsaid] },
    ...{ target: ['chrome123', 'firefox120', 'safari17.5'], legalComments: 'none', logLevel: 'warning' },
    tsconfig: join(import.meta.dirname, '../../../dashboard/client/tsconfig.json'),
  }
  const entry = (path: string): string[] => [join(import.meta.dirname, path)]
  const results = await Promise.all([
    build({ ...common, entryPoints: entry('../client/form.ts'), format: 'esm' }),
    build({ ...common, entryPoints: entry('../embed/embed.ts'), format: 'iife' }),
  ])
  const files = results
    .flatMap(({ outputFiles }) => outputFiles)
    .flatMap(({ path, contents }) => [
      [basename(path), contents] as const,
      [`${basename(path)}.gz`, gzipSync(contents, { level: 9 })] as const,
    ])
  const [form, embed] = results.map(({ metafile }) => nameOf(metafile))
  if (form === undefined || embed === undefined) throw new Error('esbuild left out an entry point')
  return [...files, ['manifest.json', JSON.stringify({ form, embed } satisfies ScriptManifest)]]
}

/**
 * Removes error texts that browsers of visitors never show. Faults of patterns are for the designer of the form, and the page has its own
 * texts for problems of answers.
 */
const withoutUnsaid: Plugin = {
  name: 'without unused error texts',
  setup(bundler) {
    bundler.onLoad({ filter: /forms\/definition\/(?:pattern|answers|evaluate)\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8')
        .replace("override readonly name = 'PatternFault'", '')
        .replaceAll(/new PatternFault\((?:`[^`]*`|'[^']*')\)/g, "new PatternFault('')")
        .replaceAll(/problem\('(\w+)', (?:`[^`]*`|'[^']*')\)/g, "problem('$1', '')")
        .replaceAll(/, rangeText\([^{}\n]*\)\) :/g, ", '') :")
        .replaceAll(/, rangeText\(min, max\)\)$/gm, ", '')")
        .replaceAll(/wrongType\('[^']*'\)/g, "wrongType('')")
        .replaceAll(/message: \S+ \?\? '[^']*'/g, "message: ''"),
      loader: 'ts',
    }))
  },
}

const nameOf = ({ outputs }: Metafile): string | undefined => Object.keys(outputs).map((path) => basename(path))[0]

if (import.meta.main) await buildFormScripts()
