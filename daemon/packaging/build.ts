/**
 * Builds the program into a few files: `node daemon/packaging/build.ts`, which `npm ci` runs. Finding and reading a thousand modules takes
 * a fifth of a start, and their text stays in memory. `postern.js` runs the built files while no source has changed.
 */
import { placeFiles } from '../../admin-api/dashboard/place-files.ts'
import { builtFolder, bundleDaemon, lookAt, type Looks } from './bundle.ts'

/** Metadata for `postern.js`. */
export interface BuiltFrom {
  /** Sources with their modification time and size. */
  readonly sources: readonly (readonly [path: string, modifiedMs: number, octets: number])[]
  /** Names of the built files. If one is missing, the built program is not used. */
  readonly files: readonly string[]
}

/** Builds all files. */
export async function buildDaemon(): Promise<void> {
  const looks: Looks = new Map()
  for (const path of ['package.json', 'package-lock.json']) lookAt(path, looks)
  const files = await bundleDaemon({ looks })
  const built: BuiltFrom = { sources: sourcesOf(looks), files: files.map(([name]) => name) }
  placeFiles(builtFolder, [...files, ['built-from.json', JSON.stringify(built)]])
}

const sourcesOf = (looks: Looks): BuiltFrom['sources'] =>
  [...looks].map(([path, look]) => [path, ...look] as const).sort(([a], [b]) => (a < b ? -1 : 1))

if (import.meta.main) await buildDaemon()
