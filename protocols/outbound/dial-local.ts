/** Connects to a program of the operator. There is no address guard, because the address comes from the settings and not from a caller. */
import { connect, type Socket } from 'node:net'

export type LocalAddress = { readonly path: string } | { readonly host: string; readonly port: number }

/** Errors are events of the socket. */
export const dialLocal = (address: LocalAddress): Socket =>
  connect('path' in address ? { path: address.path } : { host: address.host, port: address.port, noDelay: true })
