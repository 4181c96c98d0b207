/** Members, usage, captured mail, approvals, recipients and reveal links use the language of the reader, over HTTP. */
import test, { type ExecutionContext } from '#test'
import { parseMailbox, type Mailbox } from '#core/addresses.ts'
import { traces } from '#core/trace/trace.ts'
import { addDestination } from '../../rest/fixture/rest-fixture.ts'
import { signedIn } from '../consent-requests.ts'
import type { PageClient, Visited } from '../page-client.ts'
import { startPageServer, type PageServer } from '../page-server.ts'

const languages = ['de', 'fr', 'it', 'en'] as const
type Titles = readonly [de: string, fr: string, it: string, en: string]

/** English words; English text of the service is marked as such. */
const english = / (?:the|your|and|of|by|this|not|with) /
const marked = /<(\w+) (?:[^<>]* )?lang="en"[^<>]*>[^<]*<\/\1>/g

/** Returns the page in each language, in the order of `languages`. */
async function inEach(t: ExecutionContext, person: PageClient, path: string, titles: Titles): Promise<readonly Visited[]> {
  const pages: Visited[] = []
  for (const [i, language] of languages.entries()) {
    person.language = `${language}-CH,en;q=0.5`
    const shown = await person.get(path)
    const title = /<title>([^<]*) – Postern</.exec(shown.html)?.[1]
    t.deepEqual([shown.status, title], [200, titles[i] ?? ''], `${language} ${path}`)
    t.true(shown.html.includes(`<html lang="${language}">`), path)
    t.is(shown.headers.get('content-language'), language)
    t.regex(shown.headers.get('vary') ?? '', /Accept-Language, Cookie$/)
    if (language !== 'en') t.notRegex(shown.html.replaceAll(marked, ''), english, `${language} ${path}`)
    pages.push(shown)
  }
  return pages
}

function mailbox(text: string): Mailbox {
  const parsed = parseMailbox(text)
  if (!parsed) throw new Error(text)
  return parsed
}

/** Creates a message of an agent that waits for approval. Returns its trace. */
async function asked({ daemon, organizationId }: PageServer): Promise<string> {
  const destinationId = await addDestination(daemon.rest, { credentials: { host: '8.8.8.8', port: 587, security: 'starttls' } }, true)
  const { project_id: projectId } = await daemon.rest.must('GET', '/v1/projects/me')
  await daemon.rest.must('PATCH', `/v1/projects/${String(projectId)}`, { agent_send_approval: 'always' })
  const { traceId } = await daemon.part('rest').sendMessages.send(
    {
      ...{ organizationId, projectId: String(projectId), bound: true, scopes: ['api:send'], credentialId: 'grt_1' },
      agent: { level: 2, mostLevel: 2, sandboxOnly: false },
    },
    {
      ...{ from: mailbox('shop@example.ch'), to: [mailbox('ada@example.org')], cc: [], bcc: [mailbox('boss@example.net')], replyTo: [] },
      ...{ headers: [], subject: 'Bestellung', text: 'Danke.', html: '<p>Danke.</p>', template: undefined, attachments: [] },
      ...{ idempotencyKey: undefined, projectId: undefined, destinationId },
    },
  )
  return traceId
}

test('languages: members, leaving and usage, with local dates and amounts', async (t) => {
  const server = await startPageServer(t)
  const olga = await signedIn(server, 'olga@example.ch')
  const own = `/organizations/${server.organizationId}`
  await olga.send(`${own}/members`, `${own}/members/invite`, { email: 'ben@example.ch', role: 'viewer' })
  const members = ['Mitglieder von Default', 'Membres de Default', 'Membri di Default', 'Members of Default'] as const
  const [inGerman, inFrench] = await inEach(t, olga, `${own}/members`, members)
  t.regex(inGerman?.html ?? '', /Mitglied[^]*Betrachter · offen bis <time [^>]*>8\. Januar 2030/)
  t.regex(inFrench?.html ?? '', /valable jusqu’au <time [^>]*>8 janvier 2030/)
  olga.language = 'de'
  const twice = await olga.send(`${own}/members`, `${own}/members/invite`, { email: 'ben@example.ch', role: 'viewer' })
  t.regex(twice.html, /Problem: Mitglieder von Default[^]*Diese Adresse ist bereits eingeladen/)
  const last = await olga.send(`${own}/members`, `${own}/leave`, {})
  t.regex(last.html, /Eine Organisation braucht einen Inhaber/)
  await inEach(t, olga, `${own}/delete`, ['Default löschen', 'Supprimer Default', 'Elimina Default', 'Delete Default'])
  const usage = await inEach(t, olga, `${own}/usage`, ['Nutzung von Default', 'Usage de Default', 'Uso di Default', 'Usage of Default'])
  const month = [
    /Januar 2030[^]*MwSt\. \d+,\d\d %[^]*Gesamt/,
    /Janvier 2030[^]*TVA \d+[,.]\d\d\u00a0%[^]*Total/,
    /Gennaio 2030[^]*IVA \d+[,.]\d\d %[^]*Totale/,
  ]
  for (const [i, texts] of month.entries()) t.regex(usage[i]?.html ?? '', texts)
  t.regex(
    usage[0]?.html ?? '',
    /Sendungen heute<\/th>\s*<td [^>]*>0<\/td>\s*<td [^>]*>kein Limit<\/td>[^]*Plan enterprise[^]*Erstellte Team-Organisationen/,
  )
})

test('languages: captured mail, trace, approval, recipient and reveal pages', async (t) => {
  const server = await startPageServer(t)
  const { daemon, database, organizationId } = server
  const olga = await signedIn(server, 'olga@example.ch')
  const own = `/organizations/${organizationId}`
  const mail = { from: 'shop@example.ch', to: ['ada@example.ch'], subject: 'Bestellung', text: 'Danke.', html: '<p>Danke.</p>' }
  await daemon.rest.must('POST', '/v1/messages', mail)
  const { rows } = await database.list(traces, { organizationId }, { limit: 1 })
  const captureId = rows[0]?.record.capture?.id ?? ''
  const captured = ['Abgefangene E-Mails', 'E-mails capturés', 'Posta catturata', 'Captured mail'] as const
  const [list] = await inEach(t, olga, `${own}/inboxes`, captured)
  const inboxId = /\/inboxes\/([\w-]+)"/.exec(list?.html ?? '')?.[1] ?? ''
  olga.language = 'de'
  const name = /<title>([^<]*) – Postern</.exec((await olga.get(`${own}/inboxes/${inboxId}`)).html)?.[1] ?? ''
  await inEach(t, olga, `${own}/inboxes/${inboxId}`, [name, name, name, name])
  const message = `${own}/inboxes/${inboxId}/messages/${captureId}`
  const [read] = await inEach(t, olga, message, ['Bestellung', 'Bestellung', 'Bestellung', 'Bestellung'])
  t.regex(read?.html ?? '', /<dt>Abgefangen<\/dt>\s*<dd>\s*<time [^>]*>1\. Januar 2030[^]*weil [^]*Quelltext/)
  const ofTrace = ['Trace von Bestellung', 'Trace de Bestellung', 'Traccia di Bestellung', 'Trace of Bestellung'] as const
  await inEach(t, olga, `${own}/traces/${String(rows[0]?.record.id)}`, ofTrace)
  const approval = `${own}/approvals/${await asked(server)}`
  const titles = ['Nachricht genehmigen', 'Approuver un message', 'Approva un messaggio', 'Approve a message'] as const
  await inEach(t, olga, approval, titles)
  olga.language = 'fr'
  const digest = /name="digest" value="([^"]+)"/.exec((await olga.get(approval)).html)?.[1] ?? ''
  await olga.send(approval, `${approval}/refuse`, { digest })
  t.regex((await olga.get(approval)).html, /Refusé par olga@example\.ch le <time [^>]*>1 janvier 2030/)
  const key = { allowed_origins: ['https://shop.example.ch'], allowed_to: ['ada@example.ch'], locked_from: 'form@example.ch', reveal: true }
  const reveal = new URL(String((await daemon.rest.must('POST', '/v1/publishable-keys', key))['reveal_url'])).pathname
  const show = [
    ...['Browser-Schlüssel anzeigen', 'Afficher une clé de navigateur', 'Mostra una chiave per browser'],
    'Reveal a publishable key',
  ] as unknown as Titles
  await inEach(t, olga, reveal, show)
  olga.language = 'it'
  t.regex((await olga.post(reveal)).html, /La Sua chiave per browser[^]*svcpub_eyJ/)
  const { id: formId } = await daemon.rest.must('POST', '/v1/forms', { name: 'Kontakt', template: 'contact' })
  await daemon.rest.must('PUT', `/v1/forms/${String(formId)}/notifications`, { recipients: [{ email: 'out@example.net' }] })
  const link = new URL((await server.mailTo('out@example.net')).link).pathname
  await inEach(t, olga, link, ['Einsendungen von Kontakt', 'Soumissions de Kontakt', 'Compilazioni di Kontakt', 'Submissions of Kontakt'])
  olga.language = 'de'
  t.is((await olga.post(`${link}/confirm`)).status, 303)
  t.regex((await olga.get(link)).html, /Diese Adresse erhält E-Mails über Einsendungen/)
  t.regex((await olga.post(`${link}/end`)).html, /<h1>Benachrichtigungen beendet<\/h1>/)
})
