/** Mail listeners of this daemon, to detect a destination that leads back to it. */
import { networkInterfaces } from 'node:os'
import type { Endpoint } from '#config/settings/formats.ts'

const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

export class OwnListeners {
  #endpoints: readonly Endpoint[] = []

  /** Sets the bound addresses. */
  set(endpoints: readonly Endpoint[]): void {
    this.#endpoints = endpoints
  }

  /** Whether a connection to this address literal would reach this daemon. A public address that a router forwards is not detected. */
  has(address: string, port: number): boolean {
    const samePort = this.#endpoints.filter((endpoint) => endpoint.port === port)
    if (samePort.some(({ host }) => host === address)) return true
    return samePort.some(({ host }) => wildcards.has(host)) && ownAddresses().has(address)
  }
}

const ownAddresses = (): ReadonlySet<string> =>
  new Set(Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address)))
