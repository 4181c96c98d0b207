/** Where this daemon takes mail, to recognize a destination that leads back to it. */
import { networkInterfaces } from 'node:os'
import type { Endpoint } from '#config/settings/formats.ts'

const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

export class OwnListeners {
  #endpoints: readonly Endpoint[] = []

  /** The real addresses, once they are listened on. */
  set(endpoints: readonly Endpoint[]): void {
    this.#endpoints = endpoints
  }

  /** Whether a connection to this address literal would end here. A public address that a router passes on is not known. */
  has(address: string, port: number): boolean {
    const samePort = this.#endpoints.filter((endpoint) => endpoint.port === port)
    if (samePort.some(({ host }) => host === address)) return true
    return samePort.some(({ host }) => wildcards.has(host)) && ownAddresses().has(address)
  }
}

const ownAddresses = (): ReadonlySet<string> =>
  new Set(Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address)))
