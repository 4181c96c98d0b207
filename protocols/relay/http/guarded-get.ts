/** `GetBytes`: each file on a connection of its own to an address that was checked, over verified TLS where the address says https. */
import { request as beginRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import type { Clock } from '#core/clock.ts'
import type { AddressGuard } from '#core/outbound/address-guard.ts'
import type { GetBytes } from '#core/outbound/get-bytes.ts'
import type { Resolver } from '#core/outbound/resolver.ts'
import { connectFirst, dialDirectly, permittedAddresses } from '../smtp/connect.ts'
import { clientContext, secure } from '../smtp/secure.ts'
import { standardHttpDeadlines } from './deadlines.ts'

export interface GuardedGetOptions {
  readonly resolver: Resolver
  readonly guard: AddressGuard
  readonly clock: Clock
}

export function guardedGet({ resolver, guard, clock }: GuardedGetOptions): GetBytes {
  let context: SecureContext | undefined
  const network = { resolver, guard, clock, dial: dialDirectly, deadlines: standardHttpDeadlines }
  return async (address, { deadlineMs, bytesMax }, signal) => {
    const url = new URL(address)
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const isEncrypted = url.protocol === 'https:'
    const port = Number(url.port || (isEncrypted ? 443 : 80))
    const late = new AbortController()
    const timer = clock.after(deadlineMs, () => late.abort())
    const both = AbortSignal.any([signal, late.signal])
    let bare: Socket | undefined
    try {
      const addresses = await permittedAddresses(network, host, port)
      bare = (await connectFirst(network, addresses, port, both)).socket
      const tls = { host, verify: true, clock, deadlineMs: standardHttpDeadlines.tls, signal: both }
      const socket = isEncrypted ? await secure(bare, { ...tls, context: (context ??= clientContext([])) }) : bare
      return await exchange(socket, url, bytesMax, both)
    } catch {
      return undefined
    } finally {
      timer.cancel()
      bare?.destroy()
    }
  }
}

function exchange(socket: Socket, url: URL, bytesMax: number, signal: AbortSignal): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { accept: 'image/*', 'user-agent': 'Postern', host: url.host, connection: 'close' }
    const sent = beginRequest({ path: `${url.pathname}${url.search}`, headers, signal, createConnection: () => socket })
    sent.on('error', reject)
    sent.on('close', () => reject(new Error('closed without an answer')))
    sent.on('response', (answer) => void readWhole(answer, bytesMax).then(resolve, reject))
    sent.end()
  })
}

async function readWhole(answer: IncomingMessage, bytesMax: number): Promise<Uint8Array | undefined> {
  if (answer.statusCode !== 200) return undefined
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of answer as AsyncIterable<Buffer>) {
    length += piece.length
    if (length > bytesMax) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
