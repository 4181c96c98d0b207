/** Compares the clock of this machine with time servers. */
import { isIP } from 'node:net'
import type { Config } from '#config/settings/load.ts'
import type { ClockLag } from '#core/doctor/process-findings.ts'
import { systemLookUp, type LookUp } from '#core/outbound/resolver.ts'
import { clockLag } from '../../protocols/outbound/time-server.ts'

const timeoutMs = 2000

/** Returns the result of the first server that answers; undefined without an answer within seconds. */
export async function lagBehindServers({ doctor, outbound }: Pick<Config, 'doctor' | 'outbound'>): Promise<ClockLag | undefined> {
  const lookUp = systemLookUp(outbound.dnsServers)
  const asked = doctor.timeServers.map(async ({ host, port }): Promise<ClockLag> => {
    const ms = await clockLag({ address: await addressOf(host, lookUp), port, timeoutMs })
    if (ms === undefined) throw new Error(`${host} does not answer`)
    return { server: host, ms }
  })
  return Promise.any(asked).catch(() => undefined)
}

async function addressOf(host: string, lookUp: LookUp): Promise<string> {
  if (isIP(host) > 0) return host
  const found = await lookUp(host, 'A').catch(() => lookUp(host, 'AAAA'))
  const [address] = found.filter((record) => typeof record === 'string')
  if (address === undefined) throw new Error(`${host} has no address`)
  return address
}
