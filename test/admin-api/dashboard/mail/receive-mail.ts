/** Delivers mail by SMTP to the MX listener for an inbound route. */
import { portOf } from '../../../support/daemon/daemon.ts'
import { waitFor } from '../../../support/waits.ts'
import { SmtpClient } from '../../../support/smtp/smtp-client.ts'
import { inboundDomain, type DashboardServer } from '../dashboard-server.ts'

interface Incoming {
  /** Local part at the inbound domain. */
  readonly to: string
  readonly content: string
  readonly from?: string
}

/** Returns the id of the message after the service has parsed it. */
export async function receiveMail(
  { daemon: { rest, addresses } }: DashboardServer,
  routeId: string,
  { to, content, from = 'eve@example.net' }: Incoming,
): Promise<string> {
  const client = await SmtpClient.connect({ port: portOf(addresses.mx) })
  const { accepted, reply } = await client.send({ from, to: [`${to}@${inboundDomain}`], content: Buffer.from(content) })
  await client.quit()
  if (!accepted) throw new Error(`message rejected: ${reply.lines.join(' ')}`)
  return waitFor('the service has parsed the message', async () => {
    const { data } = (await rest.must('GET', `/v1/inbound-routes/${routeId}/messages`)) as {
      readonly data: readonly { readonly id: string; readonly status: string }[]
    }
    return data[0]?.status === 'processed' ? data[0].id : undefined
  })
}
