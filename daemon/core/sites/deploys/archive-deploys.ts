/** Deploys from an archive. Reads the files once for their digests, then reads missing files again and stores them. */
import { createHash } from 'node:crypto'
import type { Principal } from '../../access/principal/principal.ts'
import { KeyedMutex } from '../../keyed-mutex.ts'
import { Refusal } from '../../refusals.ts'
import type { SiteDeploy } from '../site.ts'
import type { SiteDeploys } from './deploys.ts'
import { pathsByDigest, requireFiles, type ManifestFile } from './manifest.ts'
import { isIgnored, outerFolder } from './site-path.ts'

/** A file in an archive. */
export interface ArchivedFile {
  readonly path: string
  /** Size according to the archive. */
  readonly size: number
  /** Throws if the number of octets differs from `size`. */
  octets(): AsyncIterable<Buffer>
}

/**
 * Maximum number of archives that are received or waiting; each occupies a file on disk. High enough that slow senders do not block others.
 */
const maxInFlight = 16
const maxOfOrganization = 2

export class ArchiveDeploys {
  readonly #deploys: SiteDeploys
  readonly #inFlight = new Map<string, number>()
  readonly #turns = new KeyedMutex()
  #inAll = 0

  constructor(deploys: SiteDeploys) {
    this.#deploys = deploys
  }

  /** Reserves a slot for an archive from its first octet; dispose of the result to release it. Throws `overloaded`. */
  enter({ organizationId }: Principal): Disposable {
    const held = this.#inFlight.get(organizationId) ?? 0
    if (this.#inAll >= maxInFlight || held >= maxOfOrganization) throw tooMany()
    this.#inAll++
    this.#inFlight.set(organizationId, held + 1)
    return {
      [Symbol.dispose]: () => {
        this.#inAll--
        const left = (this.#inFlight.get(organizationId) ?? 1) - 1
        if (left > 0) this.#inFlight.set(organizationId, left)
        else this.#inFlight.delete(organizationId)
      },
    }
  }

  /**
   * Deploys archives one at a time, because reading an archive loads only this machine. Throws `validation_failed` for files that a site
   * cannot contain.
   */
  deploy(principal: Principal, siteId: string, archived: readonly ArchivedFile[], activates: boolean): Promise<SiteDeploy> {
    return this.#turns.run('archive', () => this.#deploy(principal, siteId, archived, activates))
  }

  async #deploy(principal: Principal, siteId: string, archived: readonly ArchivedFile[], activates: boolean): Promise<SiteDeploy> {
    const served = archived.filter(({ path }) => !isIgnored(path))
    const outer = outerFolder(served.map(({ path }) => path))
    const named = served.map((file) => ({ ...file, path: file.path.slice(outer.length), octets: () => file.octets() }))
    requireFiles(named)
    const octets = new Map<string, ArchivedFile>()
    const files: ManifestFile[] = []
    for (const file of named) {
      const sha256 = await digestOf(file)
      files.push({ path: file.path, sha256, size: file.size })
      octets.set(sha256, file)
    }
    const { deploy, missing } = await this.#deploys.begin(principal, siteId, {
      ...{ files, activates, archive: { ignored: archived.length - served.length } },
    })
    try {
      const paths = pathsByDigest(files)
      for (const sha256 of missing) {
        const alike = (paths.get(sha256) ?? []).map((path) => ({ path, sha256, size: octets.get(sha256)?.size ?? 0 }))
        await this.#deploys.take(principal.organizationId, deploy, alike, octets.get(sha256)?.octets() ?? nothing())
      }
      return (await this.#deploys.ended(principal, deploy)).deploy
    } catch (error) {
      await this.#deploys.remove(principal, siteId, deploy.id).catch(() => undefined) // the sweep removes the rest
      throw error
    }
  }
}

async function digestOf(file: ArchivedFile): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of file.octets()) hash.update(chunk)
  return hash.digest('hex')
}

async function* nothing(): AsyncGenerator<Buffer> {}

const tooMany = (): Refusal =>
  new Refusal('overloaded', 'Too many archives are being deployed at once; send it again in a moment.', { retryAfterSeconds: 10 })
