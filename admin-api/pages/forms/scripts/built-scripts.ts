/** The scripts of forms as they were built: that of a form, and the one that brings forms into pages of other sites. */
import { join } from 'node:path'
import { hasOwnFile, ownFile, readOwnFile } from '#config/own-files.ts'
import { formAssetsPath } from './assets-path.ts'

export const builtFolder = join(import.meta.dirname, '../built')

/** `manifest.json`, by file names. */
export interface ScriptManifest {
  readonly form: string
  readonly embed: string
}

export interface BuiltScript {
  readonly bytes: Buffer
  readonly isCompressed: boolean
}

/** Undefined where they were not built, so that forms are pages without a script. */
function readManifest(): ScriptManifest | undefined {
  const file = join(builtFolder, 'manifest.json')
  return hasOwnFile(file) ? (JSON.parse(ownFile(file).toString('utf8')) as ScriptManifest) : undefined
}

/** The path of the script of a form. */
export function formScript(): string | undefined {
  const manifest = readManifest()
  return manifest && `${formAssetsPath}/${manifest.form}`
}

export const embedScript = async (takesGzip: boolean): Promise<BuiltScript | undefined> => {
  const manifest = readManifest()
  return manifest && builtScript(manifest.embed, takesGzip)
}

/** A script by its file name, also of the build before. */
export async function builtScript(file: string, takesGzip: boolean): Promise<BuiltScript | undefined> {
  if (!/^[a-z]+-[A-Z0-9]+\.js$/.test(file)) return undefined
  try {
    return { bytes: await readOwnFile(join(builtFolder, takesGzip ? `${file}.gz` : file)), isCompressed: takesGzip }
  } catch {
    return undefined
  }
}
