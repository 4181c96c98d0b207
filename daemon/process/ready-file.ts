/** Reports the bound addresses to the starting program: a JSON file that appears, complete, when all listeners accept connections. */
import { rename, rm, writeFile } from 'node:fs/promises'
import { formatEndpoint, type Endpoint } from '#config/settings/formats.ts'

/** The bound addresses. A configured port 0 is a real port here. */
export interface Listening {
  readonly http: Endpoint
  /** Listeners with TLS; empty without one. */
  readonly https: readonly Endpoint[]
  /** Listeners for HTTP-01 of a certificate authority; empty without one. */
  readonly acme: readonly Endpoint[]
  readonly submission: readonly Endpoint[]
  readonly submissions: readonly Endpoint[]
  readonly mx: readonly Endpoint[]
  /** Listeners for websites of tenants; empty without one. */
  readonly sites: readonly Endpoint[]
}

/** Writes the file atomically, so that readers never see a part of it. */
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

/** Removes the file at the stop, and before the start, because a killed process leaves it. */
export const clearReadyFile = (path: string): Promise<void> => rm(path, { force: true })
