<?php
// Sends the letter with Symfony Mailer as Nextcloud sets it up from the calls of `occ` that a file lists: nextcloud.php CALLS.
require __DIR__ . '/symfony-letter.php';

use Symfony\Component\Mailer\Transport\Smtp\EsmtpTransport;

$read = ['string' => strval(...), 'integer' => intval(...), 'boolean' => fn (string $value) => $value === 'true'];
foreach (file($argv[1], FILE_IGNORE_NEW_LINES) as $call) {
    $words = explode("\t", rtrim($call, "\t"));
    if ($words[0] !== 'config:system:set') throw new Exception("no such command: $words[0]");
    $options = [];
    foreach (array_slice($words, 2) as $word) {
        [$option, $value] = explode('=', $word, 2);
        $options[$option] = $value;
    }
    $config[$words[1]] = $read[$options['--type'] ?? 'string']($options['--value']);
}
if ($config['mail_smtpmode'] !== 'smtp' || $config['mail_smtpauth'] !== true) throw new Exception('no login by SMTP');
$transport = new EsmtpTransport($config['mail_smtphost'], $config['mail_smtpport'], $config['mail_smtpsecure'] === 'ssl' ? true : null);
$transport->setUsername($config['mail_smtpname'])->setPassword($config['mail_smtppassword']);
$transport->send(letter("{$config['mail_from_address']}@{$config['mail_domain']}"));
