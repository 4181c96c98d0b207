/** Settings of the doctor: its checks, and the recipients of its findings. */
import { listOf, optionalWritten, section } from './fields.ts'
import { address, emailAddress, hostName, timeServer, webhookAddress, webhookSecret } from './formats.ts'

export const doctor = section({
  mailTo: optionalWritten(
    {
      description:
        'Recipient of mail about problems of the service and of its organizations, through systemMail.destination: once for each finding, and once at its end. Without it, no mail is sent.',
      limit: 'a mail address such as ops@example.org',
    },
    emailAddress,
  ),
  webhookUrl: optionalWritten(
    {
      description:
        'Webhook that receives the same findings as JSON, and remembers by itself which it received. Without it, nothing is sent.',
      limit: 'an http or https address such as https://alerts.example.org/postern',
    },
    webhookAddress,
  ),
  webhookSecret: optionalWritten(
    {
      description: 'Secret that signs requests to doctor.webhookUrl in the same way as an event webhook. Required with doctor.webhookUrl.',
      limit: 'whsec_ and the base64 of 24 to 64 bytes',
      secret: true,
    },
    webhookSecret,
  ),
  addresses: listOf(
    {
      description:
        'IP addresses of your outgoing mail servers, for checks of reverse DNS and blocklists. Empty: the addresses of smtpHost, and the single addresses in outbound.spf.',
      limit: 'a list of at most 64 IP addresses, without ranges and names',
    },
    address,
    [],
  ),
  blocklists: listOf(
    {
      description:
        'DNS zones of blocklists for the check of these addresses. Most blocklists respond only to your own name server. Empty: no blocklists.',
      limit: 'a list of at most 64 host names such as zen.spamhaus.org',
    },
    hostName,
    ['zen.spamhaus.org', 'bl.spamcop.net', 'psbl.surriel.com'],
  ),
  timeServers: listOf(
    {
      description:
        'Time servers (NTP) that postern doctor and postern setup compare the clock with, with one query each. Empty: no time servers.',
      limit: 'a list of at most 64 host names or IP addresses, each with or without a port, such as ntp.example.org or 192.0.2.123:123',
    },
    timeServer,
    ['time.cloudflare.com:123'],
  ),
})
