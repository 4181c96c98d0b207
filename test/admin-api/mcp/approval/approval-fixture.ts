/** A project whose agents need approval, a live destination, and members at the pages. */
import type { ExecutionContext } from 'ava'
import type { Role } from '#core/access/principal/role.ts'
import { operatorLink } from '#core/people/sign-in/operator-link.ts'
import { PageClient } from '../../pages/page-client.ts'
import { addDestination, baseUrl, type FixtureOptions } from '../../rest/fixture/rest-fixture.ts'
import { startMcp, type McpFixture } from '../mcp-fixture.ts'

export const mail = { from: 'shop@example.ch', to: 'ada@example.org', subject: 'Hello', text: 'It works.' }

export interface Held {
  readonly trace_id: string
  readonly outcome: string
  readonly status: string
  readonly approval: { readonly url: string; readonly digest: string; readonly expires_at: string }
}

export interface ApprovalFixture extends McpFixture {
  readonly destinationId: string
  /** Sends as an agent of an older era and returns the pending message. */
  hold(changes?: Readonly<Record<string, unknown>>, token?: string): Promise<Held>
  /** Signs in a member; by default an admin of the first organization. */
  member(email: string, role?: Role): Promise<PageClient>
  /** Submits the button of the approval page. */
  decide(member: PageClient, held: Held, verb: 'approve' | 'refuse', digest?: string): Promise<number>
  traceOf(held: Pick<Held, 'trace_id'>): Promise<TraceOnWire>
}

export interface TraceOnWire {
  readonly status: string
  readonly timeline: readonly { readonly event: string; readonly message: string }[]
}

export const pathOf = ({ approval: { url } }: Held): string => new URL(url).pathname

export async function startApproval(t: ExecutionContext, options: FixtureOptions = {}): Promise<ApprovalFixture> {
  const fixture = await startMcp(t, options)
  const { rest, database, clock, address, projectId } = fixture
  const destinationId = await addDestination(rest, {}, true)
  await rest.must('PATCH', `/v1/projects/${projectId}`, { agent_send_approval: 'always' })
  const pages = { url: `http://${address}`, operatorLink: async (email: string) => baseUrl + (await operatorLink(database, clock, email)) }
  return {
    ...fixture,
    destinationId,
    async hold(changes = {}, token?: string) {
      const agent = await fixture.agent({ era: 'legacy', ...(token !== undefined && { token }) })
      return (await agent.must('email_send_test', { ...mail, destination_id: destinationId, ...changes })) as unknown as Held
    },
    async member(email, role = 'admin') {
      await fixture.addMember(email, role)
      const client = new PageClient(pages, baseUrl)
      await client.signIn(email)
      return client
    },
    async decide(member, held, verb, digest = held.approval.digest) {
      const csrf = await member.csrf('/integrations')
      return (await member.post(`${pathOf(held)}/${verb}`, { csrf, digest })).status
    },
    traceOf: async ({ trace_id: id }) => (await rest.must('GET', `/v1/traces/${id}`)) as unknown as TraceOnWire,
  }
}
