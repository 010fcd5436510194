from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("cases", "0048_run_record")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="behaviour",
            field=models.CharField(blank=True, default="", max_length=71),
            preserve_default=False,
        ),
    ]
