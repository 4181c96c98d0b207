/** Settings for visitors of web pages: captchas, scans of their files, forms and websites. */
import { oneOf, optionalWritten, section, whole, written } from './fields.ts'
import { endpoint, hostName, service, verifyUrl, webPage, webPageOrMail } from './formats.ts'

const verifyUrlLimit = 'an https address, or an http address in a private network'

export const captcha = section({
  turnstileVerifyUrl: written(
    { description: 'Address for the verification of Turnstile tokens.', limit: verifyUrlLimit },
    verifyUrl,
    'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  ),
  hcaptchaVerifyUrl: written(
    { description: 'Address for the verification of hCaptcha tokens.', limit: verifyUrlLimit },
    verifyUrl,
    'https://api.hcaptcha.com/siteverify',
  ),
})

export const forms = section({
  privacyUrl: optionalWritten(
    {
      description: 'Privacy policy for the data of visitors, linked below every form. Without it, forms have no such link.',
      limit: 'an https address such as https://www.example.org/privacy',
    },
    webPage,
  ),
  reportUrl: optionalWritten(
    {
      description: 'Address for reports of misused forms. A link below every form contains the form. Without it, forms have no such link.',
      limit: 'an https address or a mail address such as https://www.example.org/abuse or abuse@example.org',
    },
    webPageOrMail,
  ),
})

export const uploads = section({
  clamd: optionalWritten(
    {
      description: 'Address of clamd of ClamAV, which scans files uploaded with forms. Without it, files are not scanned.',
      limit: 'the path of its socket, or its host and port, such as /run/clamav/clamd.ctl or 127.0.0.1:3310',
    },
    service,
  ),
  unscannedDownloads: oneOf(
    'Whether uploaded files can be downloaded without a scan if uploads.clamd is not set. With a scanner, only clean files can be downloaded.',
    ['refuse', 'allow'],
    'refuse',
  ),
})

export const sites = section({
  listen: optionalWritten(
    {
      description:
        'Address for websites of tenants, without TLS: in production, put a reverse proxy with TLS in front of it. Without it and sites.domain, no websites are served.',
      limit: 'an IP address (IPv6 in brackets) or localhost, with a port, such as 127.0.0.1:8081 (port 0 picks a free one)',
    },
    endpoint,
  ),
  domain: optionalWritten(
    {
      description:
        'Domain of the websites: each website has a host name below it. Its wildcard DNS record must point to sites.listen, or to the reverse proxy. It must differ from all other host names of the service, because tenants control the scripts of their pages.',
      limit: 'a host name of letters, digits, hyphens and dots',
    },
    hostName,
  ),
  maxConnections: whole('Maximum number of concurrent connections to websites.', 1, 1_000_000, 10_000),
  maxConnectionsPerAddress: whole(
    'Maximum number of concurrent connections to websites from one client address (an IPv6 /64 counts as one address); behind a trusted proxy (http.trustProxy), of requests. Does not apply to loopback and to trusted proxies themselves.',
    1,
    100_000,
    200,
  ),
})
