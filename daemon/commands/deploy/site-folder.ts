/** Files of the folder that is deployed as a website. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { deployLimits, isIgnored } from '#core/sites/deploys/site-path.ts'
import { cleanText } from '../../observability/clean-text.ts'
import { exitCodes } from '../../process/lifecycle.ts'
import { StartRefused } from '../../process/start-refused.ts'

export interface SiteFile {
  /** Path relative to the folder, with slashes. */
  readonly path: string
  /** Path on this machine. */
  readonly place: string
  readonly sha256: string
  readonly size: number
}

/** Lists all files to serve, sorted by path. Follows links to files. Throws `StartRefused` for a folder without files. */
export async function filesOf(folder: string): Promise<readonly SiteFile[]> {
  const paths = await pathsIn(folder, '')
  if (paths.length === 0) throw new StartRefused(`${cleanText(folder)} contains no files to serve.`, exitCodes.failed)
  const files: SiteFile[] = []
  for (const path of paths.toSorted()) files.push({ path, place: join(folder, path), ...(await digested(join(folder, path))) })
  return files
}

async function pathsIn(folder: string, under: string): Promise<string[]> {
  const paths: string[] = []
  for (const entry of await readdir(join(folder, under), { withFileTypes: true })) {
    const path = under === '' ? entry.name : `${under}/${entry.name}`
    if (isIgnored(path)) continue
    if (entry.isDirectory()) paths.push(...(await pathsIn(folder, path)))
    else if (entry.isFile() || (await stat(join(folder, path))).isFile()) paths.push(path)
    if (paths.length > deployLimits.files)
      throw new StartRefused(
        `${cleanText(folder)} exceeds the limit of ${deployLimits.files} files for a website. Remove files or split the website.`,
        exitCodes.failed,
      )
  }
  return paths
}

async function digested(place: string): Promise<{ readonly sha256: string; readonly size: number }> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of createReadStream(place)) {
    hash.update(chunk as Buffer)
    size += (chunk as Buffer).length
  }
  return { sha256: hash.digest('hex'), size }
}
