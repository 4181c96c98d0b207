<?php
// Sends the letter with PHPMailer as Joomla sets it up from its configuration, here as JSON: joomla.php CONFIGURATION.
require_once 'libphp-phpmailer/autoload.php';

$config = json_decode($argv[1], true);
$mail = new PHPMailer\PHPMailer\PHPMailer(true);
$mail->CharSet = 'utf-8';
$mail->setFrom($config['mailfrom'], 'Shop', false);
if ($config['mailer'] === 'smtp') $mail->isSMTP();
$mail->SMTPAuth = $config['smtpauth'];
$mail->Host = $config['smtphost'];
$mail->Username = $config['smtpuser'];
$mail->Password = $config['smtppass'];
$mail->SMTPSecure = $config['smtpsecure'];
$mail->Port = $config['smtpport'];
$mail->addAddress(getenv('LETTER_TO'));
$mail->addBCC(getenv('LETTER_BCC'));
$mail->Subject = getenv('LETTER_SUBJECT');
$mail->isHTML();
$mail->Body = getenv('LETTER_HTML');
$mail->AltBody = getenv('LETTER_TEXT');
$mail->addAttachment(getenv('LETTER_FILE'), getenv('LETTER_NAME'));
$mail->send();
