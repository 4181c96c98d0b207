/** The built scripts of forms: the form script, and the script that embeds forms in other sites. */
import { join } from 'node:path'
import { hasOwnFile, ownFile, readOwnFile } from '#config/own-files.ts'
import { formAssetsPath } from './assets-path.ts'

export const builtFolder = join(import.meta.dirname, '../built')

/** `manifest.json`: the current file names. */
export interface ScriptManifest {
  readonly form: string
  readonly embed: string
}

export interface BuiltScript {
  readonly bytes: Buffer
  readonly isCompressed: boolean
}

/** Returns undefined if the scripts were not built. Forms are then pages without a script. */
function readManifest(): ScriptManifest | undefined {
  const file = join(builtFolder, 'manifest.json')
  return hasOwnFile(file) ? (JSON.parse(ownFile(file).toString('utf8')) as ScriptManifest) : undefined
}

/** Returns the path of the form script. */
export function formScript(): string | undefined {
  const manifest = readManifest()
  return manifest && `${formAssetsPath}/${manifest.form}`
}

export const embedScript = async (takesGzip: boolean): Promise<BuiltScript | undefined> => {
  const manifest = readManifest()
  return manifest && builtScript(manifest.embed, takesGzip)
}

/** Returns a script by its file name, also from an earlier build. */
export async function builtScript(file: string, takesGzip: boolean): Promise<BuiltScript | undefined> {
  if (!/^[a-z]+-[A-Z0-9]+\.js$/.test(file)) return undefined
  try {
    return { bytes: await readOwnFile(join(builtFolder, takesGzip ? `${file}.gz` : file)), isCompressed: takesGzip }
  } catch {
    return undefined
  }
}
