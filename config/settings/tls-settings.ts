/** Settings of certificates: files of the operator, or certificates ordered by ACME (RFC 8555). */
import { listOf, oneOf, optionalWritten, section, written } from './fields.ts'
import { emailAddress, endpoint, hmacKey, hostName, keyId, path, secureAddress } from './formats.ts'

const pathLimit = 'the path of a file'

export const tls = section({
  certificateFile: optionalWritten(
    {
      description:
        'PEM file with the certificate of the SMTP listeners and of http.tlsListen, and its chain. It is read again when it changes. Without it, and without acme.challenge, a self-signed certificate is made in the data folder.',
      limit: pathLimit,
    },
    path,
  ),
  keyFile: optionalWritten({ description: 'PEM file with the private key of the certificate. Required with it.', limit: pathLimit }, path),
})

export const acme = section({
  challenge: oneOf(
    'How names are proved to the certificate authority that a certificate is ordered from (RFC 8555 §8). off: none is ordered. http-01: over http at acme.listen, where port 80 of every name must lead. tls-alpn-01: inside TLS at http.tlsListen, where port 443 of every name must lead (RFC 8737).',
    ['off', 'http-01', 'tls-alpn-01'],
    'off',
  ),
  terms: oneOf(
    'Whether you agree to the terms of service of the certificate authority. It issues nothing without.',
    ['none', 'agreed'],
    'none',
  ),
  names: listOf(
    {
      description:
        'Host names of the certificate. Empty: smtpHost and the hosts of baseUrl, authUrl, formsUrl and mcpUrl, as far as they are public names.',
      limit: 'a list of at most 64 host names such as mail.example.org',
    },
    hostName,
    [],
  ),
  email: optionalWritten(
    {
      description: 'Where the certificate authority writes to about the account. Without it, it does not.',
      limit: 'a mail address such as admin@example.org',
    },
    emailAddress,
  ),
  directoryUrl: written(
    {
      description: "Directory of the certificate authority (RFC 8555 §7.1.1). By default that of Let's Encrypt.",
      limit: 'an https address',
    },
    secureAddress,
    'https://acme-v02.api.letsencrypt.org/directory',
  ),
  listen: listOf(
    {
      description:
        'Addresses on which http-01 is answered; every other request is sent on to the base URL. Not listened on with another challenge.',
      limit:
        'a list of at most 64 entries, each an IP address (IPv6 in brackets) or localhost, with a port, such as 0.0.0.0:80 (port 0 picks a free one)',
    },
    endpoint,
    ['[::]:80'],
  ),
  eabKeyId: optionalWritten(
    {
      description:
        'Key id of the external account that the account is bound to (RFC 8555 §7.3.4), where the certificate authority wants one.',
      limit: '1 to 512 visible ASCII characters',
    },
    keyId,
  ),
  eabKey: optionalWritten(
    {
      description: 'MAC key of that external account. Required with acme.eabKeyId.',
      limit: 'base64url or base64, as the certificate authority shows it',
      secret: true,
    },
    hmacKey,
  ),
  caFile: optionalWritten(
    {
      description:
        'PEM file with certificates that the directory may have besides those of public authorities, for a certificate authority of your own.',
      limit: pathLimit,
    },
    path,
  ),
})
