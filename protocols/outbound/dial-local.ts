/** Connections to a program of the operator's own, at the place that the settings name: not guarded, as no caller chooses it. */
import { connect, type Socket } from 'node:net'

export type LocalAddress = { readonly path: string } | { readonly host: string; readonly port: number }

/** Errors come by the socket. */
export const dialLocal = (address: LocalAddress): Socket =>
  connect('path' in address ? { path: address.path } : { host: address.host, port: address.port, noDelay: true })
