/** Where the built dashboard lies, and what of it the shell page loads. */
import { join } from 'node:path'

export const builtFolder = join(import.meta.dirname, 'built')

/** `manifest.json`, by file names. */
export interface Manifest {
  readonly theme: string
  readonly script: string
  readonly style: string
  /** What the script needs at once, so that browsers ask for it without waiting for the script. */
  readonly preload: readonly string[]
}
