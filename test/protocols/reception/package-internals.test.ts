// Checks undocumented parts of smtp-server that our sessions use. A failure names the part that an update changed.
import { createHook } from 'node:async_hooks'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import test from '#test'
import { SMTPServer } from 'smtp-server'
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js'
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js'
import { ReceptionConnection } from '../../../protocols/reception/reception-connection.ts'
import { ReceptionStream } from '../../../protocols/reception/data-receiver.ts'
import { ReceptionListener } from '../../../protocols/reception/reception-listener.ts'
import { SubmissionConnection } from '../../../protocols/submission/submission-connection.ts'
import { SubmissionListener } from '../../../protocols/submission/submission-listener.ts'
import { waiting } from '../../support/waits.ts'
import { startFixture } from '../submission/submission-fixture.ts'

const overridden = (ours: readonly object[], theirs: object): string[] => {
  const names = new Set(ours.flatMap((prototype) => Object.getOwnPropertyNames(prototype)))
  return [...names].filter((name) => name !== 'constructor' && name in theirs).toSorted()
}

test('smtp-server: has every overridden method', (t) => {
  t.deepEqual(overridden([ReceptionConnection.prototype, SubmissionConnection.prototype], SMTPConnection.prototype), [
    '_armTimeout',
    '_createParser',
    '_getEnhancedStatusCode',
    '_getHandler',
    '_onClose',
    '_onCommand',
    '_parseAddressCommand',
    'close',
    'handler_AUTH',
    'handler_DATA',
    'handler_EHLO',
    'handler_HELO',
    'handler_HELP',
    'handler_VRFY',
    'init',
    'send',
    'upgrade',
  ])
  t.deepEqual(overridden([ReceptionListener.prototype, SubmissionListener.prototype], SMTPServer.prototype), [
    '_acceptSocket',
    '_handleProxy',
    '_upgrade',
    'connect',
    'onAuth',
    'onConnect',
    'onMailFrom',
    'onRcptTo',
    'onSecure',
  ])
  t.deepEqual(overridden([ReceptionStream.prototype], SMTPStream.prototype), ['_feedDataStream', '_write'])
})

test('smtp-server: calls overridden methods and reads set properties', (t) => {
  const source = (method: unknown): string => String(method)
  const { prototype: connection } = SMTPConnection
  t.regex(source(connection.init), /\(\(\) => this\.connectionReady\(\), 100\)/, 'the wait that we leave out')
  t.regex(source(connection._setListeners), /this\._armTimeout\(\)[^]*pipe\(this\._parser\)/)
  t.regex(source(connection._onCommand), /this\._handlerPending = true/)
  t.regex(source(connection.upgrade), /this\._parser = this\._createParser\(\)/)
  t.regex(source(connection.close), /this\._closing = true/)
  t.regex(source(SMTPStream.prototype._write), /if \(this\._dataMode\)[^]*this\._feedDataStream\(chunk, done\)/)
  t.regex(source(SMTPServer), /this\._upgrade\(socket, /)
  t.regex(
    source(SMTPServer),
    /this\._acceptSocket\(socket, handshake\)[^]*this\._handleProxy\(socket, [^]*this\.connect\(socket, socketOptions\)/,
  )
})

test('SubmissionConnection: greets without the delay of smtp-server, also with TLS', async (t) => {
  const fixture = await startFixture(t)
  const delays: unknown[] = []
  const init = (_id: number, type: string, _trigger: number, resource: object): void => {
    if (type === 'Timeout') delays.push((resource as { readonly _idleTimeout?: unknown })._idleTimeout)
  }
  const hook = createHook({ init }).enable()
  t.teardown(() => hook.disable())
  connect({ port: fixture.tlsPort, host: '127.0.0.1', timeout: 3_600_000 }).destroy()
  t.deepEqual(delays, [3_600_000], 'delays of timers are seen')
  for (const insideTls of [false, true]) t.regex(await (await fixture.connect(insideTls)).reply(), /^220 /)
  t.false(delays.includes(100), delays.join())
})

test('SubmissionServer: accepts only TLS 1.2 and 1.3', async (t) => {
  const fixture = await startFixture(t)
  const protocolOf = (version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<string | null> => {
    const options = { port: fixture.tlsPort, host: '127.0.0.1', rejectUnauthorized: false, ciphers: 'DEFAULT@SECLEVEL=0' }
    const socket = connectTls({ ...options, minVersion: version, maxVersion: version })
    const outcome = new Promise<string | null>((resolve) => {
      socket.once('secureConnect', () => resolve(socket.getProtocol()))
      socket.once('error', () => resolve(null))
    })
    return waiting(version, outcome).finally(() => socket.destroy())
  }
  t.is(await protocolOf('TLSv1.1'), null)
  t.is(await protocolOf('TLSv1.2'), 'TLSv1.2')
  t.is(await protocolOf('TLSv1.3'), 'TLSv1.3')
})
