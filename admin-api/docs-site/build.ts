/** Builds the documentation that the daemon serves: `node admin-api/docs-site/build.ts`, which `npm ci` runs. */
import { gzipSync } from 'node:zlib'
import { placeFiles, type BuiltFile } from '../dashboard/place-files.ts'
import { builtFolder, nameOf, type DocsManifest } from './built-docs.ts'
import { servedAddresses } from './chapters/links.ts'
import { makeSite } from './site.ts'

/** Replaces all built files. */
export async function buildDocs(): Promise<void> {
  placeFiles(builtFolder, await bundleDocs())
}

/** Returns the files; the manifest is last. */
export async function bundleDocs(): Promise<readonly BuiltFile[]> {
  const { pages, sources, files, llms, llmsFull } = await makeSite(servedAddresses)
  const manifest: DocsManifest = { pages: [...pages.keys()], sources: [...sources.keys()], files: files.map(([name]) => name) }
  const plain: readonly BuiltFile[] = [
    ...[...pages].map(([path, text]) => [nameOf(path, 'html'), text] as const),
    ...[...sources].map(([path, text]) => [nameOf(path, 'md'), text] as const),
    ...files,
    ['llms.txt', llms],
    ['llms-full.txt', llmsFull],
  ]
  // every browser accepts compressed files; other clients get them decompressed
  const compressed = plain.map(([name, content]): BuiltFile => [`${name}.gz`, gzipSync(content, { level: 9 })])
  return [...compressed, ['manifest.json', JSON.stringify(manifest)]]
}

if (import.meta.main) await buildDocs()
