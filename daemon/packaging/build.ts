/**
 * Builds the program in few files, which `npm ci` does by itself: `node daemon/packaging/build.ts`. Finding and reading a thousand
 * modules is a fifth of a start, and their text stays in memory. `postern.js` runs what is built while no source has changed.
 */
import { placeFiles } from '../../admin-api/dashboard/place-files.ts'
import { builtFolder, bundleDaemon, lookAt, type Looks } from './bundle.ts'

/** What `postern.js` reads. */
export interface BuiltFrom {
  /** With the time and the size that each had. */
  readonly sources: readonly (readonly [path: string, modifiedMs: number, octets: number])[]
  /** Names of what was built; a program of which one is missing is not run. */
  readonly files: readonly string[]
}

/** Writes everything anew. */
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
