/** The folder of the built dashboard, and the manifest of the files that the shell page loads. */
import { join } from 'node:path'

export const builtFolder = join(import.meta.dirname, 'built')

/** Content of `manifest.json`: file names by role. */
export interface Manifest {
  readonly theme: string
  readonly script: string
  readonly style: string
  /** Modules that the script imports at once. Browsers preload them in parallel with the script. */
  readonly preload: readonly string[]
  /** Further modules of the start screen. */
  readonly start: readonly string[]
}
