/** Tests outgoing mail: connects to a public mail server and waits for its greeting. */
import { addressesOf, ResolveError, type Resolver } from '#core/outbound/resolver.ts'
import { dialDirectly } from '../../../protocols/outbound/dial.ts'

/** Public servers for the test: one for incoming mail and one for submission. */
export const usualOutgoing = ['gmail-smtp-in.l.google.com:25', 'smtp.gmail.com:587'] as const

const greetingMs = 5000

/** Returns undefined if the server greets as a mail server does; otherwise a sentence about the problem. */
export async function outgoingProblem(target: string, resolver: Resolver): Promise<string | undefined> {
  const [, host = '', port = ''] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(target) ?? []
  if (host === '') return `${target} is not of the form host:port.`
  try {
    const [address = ''] = (await addressesOf(resolver, host)).toSorted((a, b) => Number(a.includes(':')) - Number(b.includes(':')))
    return (await greets(address, Number(port)))
      ? undefined
      : `${target} does not respond. Your provider may block outgoing connections to port ${port}.`
  } catch (error) {
    if (error instanceof ResolveError) return `${host} does not resolve, so port ${port} could not be tested.`
    throw error
  }
}

function greets(address: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = dialDirectly(address, port)
  const timer = setTimeout(() => resolve(false), greetingMs)
  socket.once('data', (data: Buffer) => resolve(data.toString('latin1').startsWith('220')))
  socket.once('error', () => resolve(false))
  socket.once('close', () => resolve(false))
  return promise.finally(() => {
    clearTimeout(timer)
    socket.destroy()
  })
}
