/** Settings that are valid separately but contradict each other. */
import type { z } from 'zod'
import { formatEndpoint, type Endpoint } from './formats.ts'
import type { schema } from './schema.ts'

type Settings = z.output<typeof schema>

/** Returns one sentence for each contradiction. */
export function contradictions(settings: Settings): string[] {
  const { tls, acme, http, masterKey, masterKeyFile, systemMail, doctor, sites } = settings
  const orders = acme.challenge !== 'off'
  const rules: readonly [boolean, string][] = [
    [masterKey !== null && masterKeyFile !== null, 'POSTERN_MASTER_KEY and POSTERN_MASTER_KEY_FILE exclude each other; set one of them.'],
    [
      (tls.certificateFile === null) !== (tls.keyFile === null),
      'POSTERN_TLS_CERT and POSTERN_TLS_KEY belong together; set both, or none for a self-signed certificate.',
    ],
    [
      orders && tls.certificateFile !== null,
      'POSTERN_TLS_CERT and POSTERN_ACME_CHALLENGE exclude each other. Set one of them: your own certificate, or one ordered by ACME.',
    ],
    [
      orders && acme.terms !== 'agreed',
      'POSTERN_ACME_CHALLENGE needs POSTERN_ACME_TERMS=agreed, once you have read the terms of the certificate authority.',
    ],
    [
      acme.challenge === 'tls-alpn-01' && http.tlsListen === null,
      'POSTERN_ACME_CHALLENGE=tls-alpn-01 needs the HTTPS listener; set POSTERN_HTTPS_LISTEN, such as 0.0.0.0:443.',
    ],
    [
      acme.challenge === 'http-01' && acme.listen.length === 0,
      'POSTERN_ACME_CHALLENGE=http-01 needs POSTERN_ACME_LISTEN; set an address such as 0.0.0.0:80.',
    ],
    [
      (acme.eabKeyId === null) !== (acme.eabKey === null),
      'POSTERN_ACME_EAB_KEY_ID and POSTERN_ACME_EAB_KEY belong together; set both, or none if the certificate authority needs no external account.',
    ],
    [
      (systemMail.destination === null) !== (systemMail.from === null),
      'POSTERN_SYSTEM_DESTINATION and POSTERN_SYSTEM_FROM belong together; set both, or none if the service sends no system mail.',
    ],
    [
      (sites.listen === null) !== (sites.domain === null),
      'POSTERN_SITES_LISTEN and POSTERN_SITES_DOMAIN belong together; set both, or none if no websites are served.',
    ],
    [
      (doctor.webhookUrl === null) !== (doctor.webhookSecret === null),
      'POSTERN_DOCTOR_WEBHOOK_URL and POSTERN_DOCTOR_WEBHOOK_SECRET belong together; set both, or none if no alerts go to a webhook.',
    ],
  ]
  const broken = rules.filter(([isBroken]) => isBroken).map(([, sentence]) => sentence)
  return [...broken, ...sharedHosts(settings), ...sharedEndpoints(settings)]
}

/** Finds host names that pages of tenants share with the service. Such pages could reach data that browsers store for the service. */
function sharedHosts({ sites: { domain }, baseUrl, authUrl, formsUrl, mcpUrl }: Settings): string[] {
  const own = Object.entries({ POSTERN_BASE_URL: baseUrl, POSTERN_AUTH_URL: authUrl, POSTERN_FORMS_URL: formsUrl, POSTERN_MCP_URL: mcpUrl })
  if (domain === null) return []
  const isWithin = (inner: string, outer: string): boolean => inner === outer || inner.endsWith(`.${outer}`)
  return own.flatMap(([variable, url]) => {
    const host = url === null ? '' : new URL(url).hostname
    if (host === '' || (!isWithin(host, domain) && !isWithin(domain, host))) return []
    return [`POSTERN_SITES_DOMAIN is ${domain}, whose pages tenants control, and ${variable} is at ${host}. Use another domain.`]
  })
}

function sharedEndpoints({ http, submission, mx, acme, sites }: Settings): string[] {
  const all: readonly [string, readonly Endpoint[]][] = [
    ['POSTERN_HTTP_LISTEN', [http.listen]],
    ['POSTERN_HTTPS_LISTEN', http.tlsListen === null ? [] : [http.tlsListen]],
    ['POSTERN_ACME_LISTEN', acme.challenge === 'http-01' ? acme.listen : []],
    ['POSTERN_SUBMISSION_LISTEN', submission.listen],
    ['POSTERN_SUBMISSIONS_LISTEN', submission.implicitTlsListen],
    ['POSTERN_MX_LISTEN', mx.listen],
    ['POSTERN_SITES_LISTEN', sites.listen === null ? [] : [sites.listen]],
  ]
  const owner = new Map<string, string>()
  const problems: string[] = []
  for (const [variable, endpoints] of all) {
    for (const endpoint of endpoints.filter(({ port }) => port !== 0)) {
      const written = formatEndpoint(endpoint)
      const other = owner.get(written)
      if (other) problems.push(`${variable} contains ${written}, which ${other} already contains. Set another port in one of them.`)
      owner.set(written, variable)
    }
  }
  return problems
}
