/** Pages of sign-in and consent use the language of the reader, over HTTP. */
import test from '#test'
import { asking } from '../consent-requests.ts'
import { PageClient, type Visited } from '../page-client.ts'
import { startPageServer } from '../page-server.ts'
import { askedBy } from '../sandbox.ts'

const languages = ['de', 'fr', 'it', 'en'] as const
const titleOf = ({ html }: Visited): string => /<title>([^<]*) – Postern</.exec(html)?.[1] ?? ''

/** Titles by path; the last one is for an English browser. */
const open: Readonly<Record<string, readonly [de: string, fr: string, it: string, en: string]>> = {
  '/': ['Willkommen', 'Bienvenue', 'Benvenuto', 'Welcome'],
  '/sign-in': ['Anmelden', 'Se connecter', 'Accedi', 'Sign in'],
  '/signed-out': ['Abgemeldet', 'Déconnecté', 'Uscita', 'Signed out'],
  '/sign-in/link/x': ['Hier ist nichts', 'Rien ici', 'Qui non c’è nulla', 'Nothing here'],
  '/invitations/x': ['Hier ist nichts', 'Rien ici', 'Qui non c’è nulla', 'Nothing here'],
}

test('languages: public pages use the language of the browser and set Vary', async (t) => {
  const server = await startPageServer(t)
  for (const [path, titles] of Object.entries(open))
    for (const [i, language] of languages.entries()) {
      const headers = { accept: 'text/html', 'accept-language': `${language}-CH, en;q=0.5` }
      const answer = await fetch(server.url + path, { headers })
      const html = await answer.text()
      t.regex(html, new RegExp(`<html lang="${language}">[^]*<title>${titles[i] ?? ''} – Postern`), path)
      t.is(answer.headers.get('content-language'), language)
      t.regex(answer.headers.get('vary') ?? '', /Accept-Language, Cookie$/)
    }
  const german = new PageClient(server)
  german.language = 'de-CH,de;q=0.9'
  t.regex((await german.get('/sign-in/link/x')).html, /<p>Dieser Anmeldelink ist abgelaufen/)
  t.regex((await german.get('/invitations/x')).html, /<p>Diese Einladung wurde angenommen/)
  t.regex((await german.post('/sign-in', { email: 'nonsense' })).html, /Problem: Anmelden[^]*Geben Sie eine E-Mail-Adresse ein/)
  const foreign = await german.post('/sign-in', { email: 'ada@example.ch' }, { origin: 'https://evil.example' })
  t.regex(foreign.html, /Nicht erlaubt[^]*wurde nicht von einer Seite dieses Dienstes gesendet/)
  german.language = 'pt, de;q=0.5'
  t.is(titleOf(await german.get('/sign-in')), 'Sign in')
  german.language = 'fr'
  german.cookie = 'a=1; postern_language=it'
  t.is(titleOf(await german.get('/sign-in')), 'Accedi', 'the chosen language')
  german.cookie = 'postern_language=xx'
  t.is(titleOf(await german.get('/sign-in')), 'Se connecter', 'an unsupported language')
  const envelope = await fetch(`${server.url}/v1/traces`, { headers: { 'accept-language': 'de' } })
  t.regex(await envelope.text(), /Send your API key in the header/)
})

test('languages: sign-in, claim and consent use one language', async (t) => {
  const server = await startPageServer(t, { signUp: 'open' })
  const { code } = await askedBy(server, 'ada@example.ch')
  const ada = new PageClient(server)
  ada.language = 'de'
  const link = new URL((await server.mailTo('ada@example.ch')).link).pathname
  t.regex((await ada.get(link)).html, /Weiter als <b>ada@example\.ch<\/b>/)
  await ada.post(link)
  const titles: Readonly<Record<string, string>> = { '/account/applications': 'Anwendungen mit Zugriff' }
  for (const [path, title] of Object.entries({ ...titles, '/integrations': 'Integrationen', '/organizations': 'Organisationen' }))
    t.is(titleOf(await ada.get(path)), title)
  t.regex((await ada.send('/integrations', '/integrations/code', { code: 'KITE-42' })).html, /Dieser Code ist falsch/)
  t.regex((await ada.get(`/claims/${code}`)).html, /Ist das Ihr Agent\?[^]*In die Sandbox senden/)
  const done = await ada.send(`/claims/${code}`, `/claims/${code}`, { send_sandbox: 'on' })
  t.is(done.status, 303)
  const request = asking(server)
  const asked = await ada.get(request.path)
  t.regex(asked.html, /Nightly &lt;report&gt; mit einem Projekt verbinden\?[^]*Traces, abgefangene E-Mails/)
  t.regex(asked.html, /Immer enthalten/)
  const undecided = await ada.post(request.path, { csrf: await ada.csrf(), decision: 'allow', scope: 'api:read' })
  t.is(undecided.status, 400)
  t.regex(undecided.html, /Problem: [^]*Wählen Sie, wo die Anwendung arbeiten darf\./)
  for (const path of ['/account/applications', '/organizations', request.path]) {
    const { html } = await ada.get(path)
    t.notRegex(html, / (?:the|your|and) /, path)
  }
})
