/** Settings of certificates: files of the operator, or certificates ordered by ACME (RFC 8555). */
import { listOf, oneOf, optionalWritten, section, written } from './fields.ts'
import { emailAddress, endpoint, hmacKey, hostName, keyId, path, secureAddress } from './formats.ts'

const pathLimit = 'the path of a file'

export const tls = section({
  certificateFile: optionalWritten(
    {
      description:
        'PEM file with the certificate of the SMTP listeners and of http.tlsListen, and its chain. Postern reads it again when it changes. Without it and acme.challenge, Postern creates a self-signed certificate in the data folder.',
      limit: pathLimit,
    },
    path,
  ),
  keyFile: optionalWritten(
    { description: 'PEM file with the private key of the certificate. Required with the certificate.', limit: pathLimit },
    path,
  ),
})

export const acme = section({
  challenge: oneOf(
    'Challenge that proves host names to the certificate authority (RFC 8555 §8). off: no certificate is ordered. http-01: over http at acme.listen; port 80 of every name must lead there. tls-alpn-01: over TLS at http.tlsListen; port 443 of every name must lead there (RFC 8737).',
    ['off', 'http-01', 'tls-alpn-01'],
    'off',
  ),
  terms: oneOf('Whether you agree to the terms of service of the certificate authority, which it requires.', ['none', 'agreed'], 'none'),
  names: listOf(
    {
      description:
        'Host names of the certificate. Empty: smtpHost and the hosts of baseUrl, authUrl, formsUrl and mcpUrl that are public names.',
      limit: 'a list of at most 64 host names such as mail.example.org',
    },
    hostName,
    [],
  ),
  email: optionalWritten(
    {
      description: 'Mail address for messages of the certificate authority about the account. Without it, the authority sends no messages.',
      limit: 'a mail address such as admin@example.org',
    },
    emailAddress,
  ),
  directoryUrl: written(
    {
      description: "Directory of the certificate authority (RFC 8555 §7.1.1). By default, the directory of Let's Encrypt.",
      limit: 'an https address',
    },
    secureAddress,
    'https://acme-v02.api.letsencrypt.org/directory',
  ),
  listen: listOf(
    {
      description:
        'Addresses of the http-01 listener, which redirects all other requests to the base URL. Not used with another challenge.',
      limit:
        'a list of at most 64 entries, each an IP address (IPv6 in brackets) or localhost, with a port, such as 0.0.0.0:80 (port 0 picks a free one)',
    },
    endpoint,
    ['[::]:80'],
  ),
  eabKeyId: optionalWritten(
    {
      description: 'Key id for external account binding (RFC 8555 §7.3.4), if the certificate authority requires it.',
      limit: '1 to 512 visible ASCII characters',
    },
    keyId,
  ),
  eabKey: optionalWritten(
    {
      description: 'MAC key for external account binding. Required with acme.eabKeyId.',
      limit: 'base64url or base64, as the certificate authority shows it',
      secret: true,
    },
    hmacKey,
  ),
  caFile: optionalWritten(
    {
      description: 'PEM file with additional trusted certificates for the directory, for your own certificate authority.',
      limit: pathLimit,
    },
    path,
  ),
})
