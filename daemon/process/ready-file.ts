/** Reports where the daemon listens to whoever started it: a JSON file that appears, whole, once every listener accepts. */
import { rename, rm, writeFile } from 'node:fs/promises'
import { formatEndpoint, type Endpoint } from '#config/settings/formats.ts'

/** What the daemon really listens on; port 0 of the configuration has become a real one. */
export interface Listening {
  readonly http: Endpoint
  /** Inside TLS; empty when there is no such listener. */
  readonly https: readonly Endpoint[]
  /** Where HTTP-01 of a certificate authority is answered; empty where it is not. */
  readonly acme: readonly Endpoint[]
  readonly submission: readonly Endpoint[]
  readonly submissions: readonly Endpoint[]
  readonly mx: readonly Endpoint[]
  /** Where websites of tenants are served; empty where they are not. */
  readonly sites: readonly Endpoint[]
}

/** Writes the file beside its place and renames it, so that a reader never sees half of it. */
export async function writeReadyFile(path: string, listening: Listening): Promise<void> {
  const content = {
    http: formatEndpoint(listening.http),
    https: listening.https.map(formatEndpoint),
    acme: listening.acme.map(formatEndpoint),
    submission: listening.submission.map(formatEndpoint),
    submissions: listening.submissions.map(formatEndpoint),
    mx: listening.mx.map(formatEndpoint),
    sites: listening.sites.map(formatEndpoint),
    pid: process.pid,
  }
  const unfinished = `${path}.${process.pid}.tmp`
  await writeFile(unfinished, `${JSON.stringify(content)}\n`)
  await rename(unfinished, path)
}

/** Removes the file: before the start, as a process that was killed leaves it behind, and at the stop. */
export const clearReadyFile = (path: string): Promise<void> => rm(path, { force: true })
